// A convolution or a product with what follows it, as the records say that have `fuses`: a number per channel, a tensor
// of its shape, an activation; and with what its filters are multiplied by.
#include <algorithm>
#include <unordered_map>

#include "passes/match.h"
#include "passes/passes.h"
#include "pir/builder.h"

namespace paddle::passes {

using pir::Attribute;
using pir::Operation;
using pir::Value;

namespace {

// The records that continue an operator, by that operator's.
const OpInfo* continued_by(const OpInfo* op) {
  static const auto known = [] {
    std::unordered_map<const OpInfo*, const OpInfo*> out;
    for (const OpInfo& o : all_ops())
      if (const Fusion* f = pass_info(o).fuses) out.emplace(&op_named(f->op), &o);
    return out;
  }();
  auto it = known.find(op);
  return it == known.end() ? nullptr : it->second;
}

bool taken(const Operation& op, const OpInfo& fused) {
  const Fusion& f = *pass_info(fused).fuses;
  const DType t = op.result().dtype();
  if (!f.dtypes.empty() && std::find(f.dtypes.begin(), f.dtypes.end(), t) == f.dtypes.end()) return false;
  for (Value v : op.operands())
    if (v && v.type().is_tensor() && v.shape().size() < f.rank) return false;
  for (const IntTerm& term : f.where) {
    const std::string_view name = fused.args[term.arg].name;
    if (op.attr(name).as_int() != term.value) return false;
  }
  return true;
}

struct Chain {
  Value filter, scale;  // of a filter that is multiplied by a number for each channel
  Value bias, residual;
  std::string_view activation;
  std::vector<Operation*> ops;  // what follows, in order
};

// Takes the sum of v with something else along. Whether it can.
bool take_sum(Chain& c, const Operation& sum, Value v, size_t axis) {
  const Value other = sum.operand(sum.operand(0) == v ? 1 : 0);
  const size_t rank = v.shape().size();
  if (sum.result().type() != v.type()) return false;
  const bool narrow = other.dtype() == v.dtype() || other.dtype() == DType::kFloat32;
  if (!c.bias && !c.residual && narrow && along_axis(other, axis, rank, v.shape()[axis]))
    c.bias = other;
  else if (!c.residual && other != v && other.type() == v.type())
    c.residual = other;
  else
    return false;
  return true;
}

Chain follow(Operation& op, const Fusion& f) {
  Chain c;
  Value v = op.result();
  const size_t axis = channel_axis(op);
  while (Operation* user = only_user(v)) {
    const FusedActivation* activation = nullptr;
    for (const FusedActivation& a : f.activations)
      if (user->info() && user->info()->name == a.op) activation = &a;
    if (!activation && !(computes(*user, scalar::Fn::add) && take_sum(c, *user, v, axis))) break;
    c.ops.push_back(user);
    v = user->result();
    if (!activation) continue;
    c.activation = activation->value;
    break;
  }
  return c;
}

// Filters of a convolution that are scaled before it, and by what: whoever keeps them in a layout of its own scales
// them on the way there.
void take_scale(Chain& c, const Operation& op) {
  if (!is_convolution(op)) return;
  const Value scaled = op.operand("filter");
  if (!scaled.is_result() || only_user(scaled) != &op || scaled.dtype() != DType::kFloat32) return;
  const Operation& product = *scaled.defining_op();
  if (!computes(product, scalar::Fn::mul)) return;
  const auto& shape = scaled.shape();
  for (size_t k = 0; k < 2; ++k) {
    const Value filter = product.operand(k), scale = product.operand(1 - k);
    if (filter.type() != scaled.type() || scale.dtype() != scaled.dtype() ||
        !along_axis(scale, 0, shape.size(), shape[0]))
      continue;
    c.filter = filter;
    c.scale = scale;
    return;
  }
}

// An elementwise operator or a reduction takes sums along for nothing, in one compiled group.
bool taken_along(Value v) {
  for (Operation* user : v.users())
    if (user->has(kElementwise | kBroadcast | kReduction) && !user->has(kView)) return true;
  return false;
}

// The fused operator's operands and attributes.
struct Parts {
  std::vector<Value> operands;
  pir::AttrMap attrs;

  Parts(const Operation& op, const OpInfo& fused, const Chain& c) {
    const Fusion& f = *pass_info(fused).fuses;
    const pir::OpDef& def = pir::op_def(fused);
    operands.resize(def.operands.size());
    auto set = [&](int8_t arg, Value v) {
      if (v) operands[static_cast<size_t>(def.operand_index(fused.args[static_cast<size_t>(arg)].name))] = v;
    };
    for (size_t i = 0; i < f.args.size(); ++i) {
      const std::string_view theirs = op.info()->args[i].name;
      if (pir::is_operand(op.info()->args[i]))
        set(static_cast<int8_t>(f.args[i]), op.operand(theirs));
      else
        attrs.set(fused.args[f.args[i]].name, op.attr(theirs));
    }
    if (c.scale) operands[static_cast<size_t>(def.operand_index("filter"))] = c.filter;
    set(f.scale, c.scale);
    set(f.bias, c.bias);
    set(f.residual, c.residual);
    std::string_view activation = c.activation;
    for (const FusedActivation& a : f.activations)
      if (c.activation.empty() && a.op.empty()) activation = a.value;
    if (f.activation >= 0) attrs.set(fused.args[static_cast<size_t>(f.activation)].name, Attribute::string(activation));
  }
};

bool fuse(Operation& op, const OpInfo& fused) {
  if (!taken(op, fused)) return false;
  Chain c = follow(op, *pass_info(fused).fuses);
  if (pass_info(fused).fuses->scale >= 0) take_scale(c, op);
  if (c.ops.empty() && !c.scale) return false;
  Operation* last = c.ops.empty() ? &op : c.ops.back();
  if (pass_info(fused).fuses->ungrouped && taken_along(last->result())) return false;
  pir::Builder b;
  b.before(last);
  b.set_loc(pir::Location::derived("fuse_epilogue", last->loc()));
  for (Value* v : {&c.bias, &c.scale})
    if (*v && v->shape().size() != 1) *v = b.value("pd_op.reshape", {*v, b.full_int_array(std::vector<int64_t>{-1})});
  Operation* scaling = c.scale ? op.operand("filter").defining_op() : nullptr;
  Parts parts(op, fused, c);
  const Value out = b.create(pir::op_def(fused), parts.operands, std::move(parts.attrs))->result();
  out.set_stop_gradient(last->result().stop_gradient());
  last->result().replace_all_uses_with(out);
  for (size_t i = c.ops.size(); i-- > 0;) c.ops[i]->erase();
  op.erase();
  if (scaling) scaling->erase();
  return true;
}

}  // namespace

size_t fuse_epilogue(Operation& root) {
  std::vector<std::pair<Operation*, const OpInfo*>> found;
  root.walk([&](Operation& op) {
    if (const OpInfo* fused = op.info() ? continued_by(op.info()) : nullptr) found.emplace_back(&op, fused);
  });
  // The last first: where two are added, the sum follows the later one.
  size_t n = 0;
  for (size_t i = found.size(); i-- > 0;) n += fuse(*found[i].first, *found[i].second);
  return n;
}

}  // namespace paddle::passes
