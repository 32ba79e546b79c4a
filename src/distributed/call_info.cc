#include "distributed/call_info.h"

#include <mutex>
#include <optional>

#include "spmd/dist_payload.h"

namespace paddle::distributed {
namespace {

spmd::TensorInfo info_of(std::span<const Dim> shape, DType dtype) {
  return {spmd::sizes_of(shape), static_cast<int64_t>(size_of(dtype))};
}

spmd::AttrValue value_of(const Scalar& s) {
  switch (s.kind()) {
    case Scalar::Kind::kBool:
      return s.to_bool();
    case Scalar::Kind::kInt:
      return s.to_int();
    case Scalar::Kind::kFloat:
      return s.to_double();
    default:
      return {};
  }
}

spmd::AttrValue attr_of(const Arg& a) {
  switch (a.tag()) {
    case Arg::Tag::kScalar:
      return value_of(a.scalar());
    case Arg::Tag::kInts:
      if (!a.ints().resolved()) return {};
      return spmd::sizes_of(a.ints().values());
    case Arg::Tag::kInt:
      return a.i();
    case Arg::Tag::kFloat:
      return a.d();
    case Arg::Tag::kBool:
      return a.b();
    case Arg::Tag::kString:
      return std::string(a.str());
    case Arg::Tag::kIntList:
      return std::vector<int64_t>(a.int_list().begin(), a.int_list().end());
    default:
      return {};
  }
}

}  // namespace

spmd::CallInfo describe(OpCall& c) {
  spmd::CallInfo info;
  info.op = c.op.name;
  info.has_local = !c.op.local.empty();
  for (size_t i = 0; i < c.args.size(); ++i) {
    const ArgInfo& arg = c.op.args[i];
    if (!is_tensor_kind(arg.kind)) {
      info.attrs.emplace_back(arg.name, attr_of(c.args[i]));
      continue;
    }
    spmd::Slot slot;
    for (const Tensor& t : c.args[i].tensors_or_empty())
      if (t.defined()) slot.push_back(info_of(t.shape(), t.dtype()));
    info.inputs.push_back(std::move(slot));
    info.input_names.emplace_back(arg.name);
  }
  for (size_t o = 0; o < c.num_outs(); ++o) {
    spmd::Slot slot;
    if (c.op.outs[o].kind == ArgKind::kTensors) {
      for (const TensorMeta& m : c.list_metas)
        if (m.dtype != DType::kUndefined) slot.push_back(info_of(m.shape, m.dtype));
    } else if (c.meta(o).dtype != DType::kUndefined) {
      slot.push_back(info_of(c.meta(o).shape, c.meta(o).dtype));
    }
    info.outputs.push_back(std::move(slot));
  }
  return info;
}

const spmd::FactorRule* rule_of(const OpInfo& op) {
  static std::mutex mutex;
  static std::vector<std::unique_ptr<spmd::FactorRule>>& rules =
      *new std::vector<std::unique_ptr<spmd::FactorRule>>(all_ops().size());
  if (op.spmd.empty()) return nullptr;
  std::lock_guard lock(mutex);
  auto& slot = rules[op.id];
  if (!slot) {
    slot = std::make_unique<spmd::FactorRule>(spmd::FactorRule::parse(op.spmd));
    std::vector<std::string> linear;
    for (const ArgInfo& a : op.args)
      if (a.linear) linear.emplace_back(a.name);
    if (!linear.empty()) slot->add_linear_in(std::move(linear));
  }
  return slot.get();
}

spmd::RuleInstance instantiate(const OpInfo& op, const spmd::CallInfo& info) {
  const spmd::FactorRule* rule = rule_of(op);
  return rule ? rule->instantiate(info) : spmd::replicate_all(info, "its record has no sharding rule");
}

}  // namespace paddle::distributed
