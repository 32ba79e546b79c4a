// The dist interpreter, below autograd: what a call means when an input is spread over a mesh. The record's rule says
// how the inputs must lie; they are moved, each rank runs the operator on its part, and the parts make the outputs.
#include <algorithm>
#include <forward_list>
#include <set>

#include "api/ops.h"
#include "dispatch/eager.h"
#include "dispatch/state.h"
#include "dispatch/trace.h"
#include "distributed/call_info.h"
#include "distributed/collectives.h"
#include "distributed/environment.h"
#include "distributed/local_form.h"
#include "distributed/reshard.h"
#include "phi/kernels/registry.h"
#include "spmd/attr_text.h"
#include "tensor/element.h"

namespace paddle::distributed {
namespace {

// A tensor of its own with the same elements.
Tensor fresh(const Tensor& t) {
  dispatch::Trace* trace = dispatch::Trace::active();
  return trace ? trace->alias(t) : copy_of(t);
}

constexpr std::string_view kOwnRule = "rule: dist";       // the operator handles distribution itself
constexpr std::string_view kPerItem = "rule: optimizer";  // each item of the lists on its own

void warn_once(const OpInfo& op, const std::string& reason) {
  static std::mutex mutex;
  static std::set<uint16_t> warned;
  std::lock_guard lock(mutex);
  if (warned.insert(op.id).second)
    fmt::print(stderr, "Warning: [{}] runs on whole tensors on every rank: {}\n", op.name, reason);
}

// Arguments that are numbers must be numbers on every rank.
void resolve_numbers(OpCall& c) {
  for (Arg& a : c.args) {
    if (a.tag() == Arg::Tag::kScalar && a.scalar().kind() == Scalar::Kind::kTensor && a.scalar().tensor().is_dist()) {
      a = Arg(c.kept_scalars.emplace_front(whole_value(a.scalar().tensor())));
    } else if (a.tag() == Arg::Tag::kInts && !a.ints().resolved()) {
      if (a.ints().whole().defined()) {
        a = Arg(c.kept_ints.emplace_front(whole_value(a.ints().whole())));
      } else {
        Tensors items = a.ints().tensors();
        for (Tensor& t : items)
          if (t.defined()) t = whole_value(t);
        paddle::Shape values = a.ints().values();
        a = Arg(c.kept_ints.emplace_front(view(values), std::move(items)));
      }
    }
  }
  if (!dispatch::tracing()) dispatch::resolve_arguments(c);
}

const spmd::ProcessMesh& mesh_of(const OpCall& c) {
  const spmd::ProcessMesh* mesh = nullptr;
  each_input(c, [&](size_t, size_t, const Tensor& t) {
    if (!t.is_dist()) return;
    const spmd::ProcessMesh& m = spmd::dist_attr(t).mesh;
    if (!mesh) mesh = &m;
    check(m.shape() == mesh->shape() && m.process_ids() == mesh->process_ids(), ErrorKind::kValue,
          "[{}] expected all inputs on one mesh, got {} and {}; move one with paddle.distributed.reshard", c.op.name,
          mesh->to_string(), m.to_string());
  });
  PD_INVARIANT(mesh);
  return *mesh;
}

// One distributed call.
class DistCall {
 public:
  explicit DistCall(OpCall& c) : c_(c), mesh_(mesh_of(c)), rank_(Environment::current().rank()) {}

  void run() {
    infer();
    resolve();
    bool here = mesh_.contains(rank_);
    if (here) describe_shards();
    move_inputs();
    if (here) call_local();
    finish();
  }

 private:
  bool inplace(size_t out) const { return (c_.inplace || c_.op.has(kInplaceOnly)) && c_.op.outs[out].inplace_of >= 0; }

  void infer() {
    each_input(c_, [&](size_t, size_t, const Tensor& t) { c_.place = t.place(); });
    if (c_.op.meta) c_.op.meta(c_);
    c_.metas_ready = true;
  }

  spmd::Placements placements_of(const Tensor& t) const {
    return t.is_dist() ? spmd::dist_attr(t).placements : spmd::Placements(static_cast<size_t>(mesh_.ndim()));
  }

  void resolve() {
    spmd::CallInfo info = describe(c_);
    sizes_follow_values_ = c_.op.has(kDataDependentShape) || (!dispatch::tracing() && has_open_size(info.outputs));
    spmd::RuleInstance rule = sizes_follow_values_ ? spmd::replicate_all(info, "") : instantiate(c_.op, info);
    if (rule.replicate_all && !rule.reason.empty()) warn_once(c_.op, rule.reason);
    std::vector<spmd::Known> in, out;
    each_input(c_, [&](size_t, size_t, const Tensor& t) { in.emplace_back(placements_of(t)); });
    for (size_t o = 0; o < info.outputs.size(); ++o)
      for (size_t k = 0; k < info.outputs[o].size(); ++k)
        out.push_back(inplace(o) ? spmd::Known(placements_of(target(o, k))) : spmd::Known());
    resolved_ = spmd::propagate(rule, in, out, mesh_);
    out_infos_ = std::move(info.outputs);
  }

  const Tensor& target(size_t out, size_t item) const {
    auto list = c_.args[static_cast<size_t>(c_.op.outs[out].inplace_of)].tensors_or_empty();
    for (const Tensor& t : list)
      if (t.defined() && item-- == 0) return t;
    throw_internal(__FILE__, __LINE__, "an in-place output without a target");
  }

  void describe_shards() {
    spmd::Shape at = *mesh_.coordinate_of(rank_);
    size_t flat = 0;
    each_input(c_, [&](size_t, size_t, const Tensor& t) {
      in_shards_.push_back(
          spmd::local_shard(spmd::sizes_of(t.shape()), mesh_, resolved_.inputs[flat++].placements, at));
    });
    if (sizes_follow_values_) return;
    flat = 0;
    for (const spmd::Slot& slot : out_infos_)
      for (const spmd::TensorInfo& t : slot)
        out_shards_.push_back(spmd::local_shard(t.shape, mesh_, resolved_.outputs[flat++].placements, at));
  }

  // The shards as the operator needs them. Each tensor is moved on every rank of its mesh.
  void move_inputs() {
    size_t flat = 0;
    each_input(c_, [&](size_t, size_t, const Tensor& t) {
      auto to = std::make_shared<spmd::DistAttr>(spmd::DistAttr{mesh_, resolved_.inputs[flat++].placements});
      Tensor local;
      if (t.is_dist()) {
        const spmd::DistPayload& p = spmd::dist_payload(t);
        local = p.attr->placements == to->placements
                    ? p.local
                    : reshard_local(p.local, spmd::sizes_of(t.shape()), t.dtype(), *p.attr, *to);
      } else {
        local = cut_whole(t, to);
      }
      locals_.push_back(std::move(local));
    });
  }

  // Where an in-place target need not move, the operator writes its memory; else a copy is written and brought back.
  void protect_targets(std::vector<size_t>& first_flat) {
    size_t flat_out = 0;
    for (size_t o = 0; o < out_infos_.size(); ++o)
      for (size_t k = 0; k < out_infos_[o].size(); ++k, ++flat_out) {
        if (!inplace(o)) continue;
        size_t flat = first_flat[static_cast<size_t>(c_.op.outs[o].inplace_of)] + k;
        bool stays = !resolved_.outputs[flat_out].reshard && !resolved_.inputs[flat].reshard;
        direct_.push_back(stays);
        if (!stays && locals_[flat].defined()) locals_[flat] = fresh(locals_[flat]);
      }
  }

  // Nothing of the outputs is here: no need to ask the operator, which might not like empty inputs.
  bool all_empty() const {
    if (out_shards_.empty() || dispatch::tracing() || c_.inplace || c_.op.has(kInplaceOnly)) return false;
    return std::all_of(out_shards_.begin(), out_shards_.end(), [](const spmd::LocalShard& s) {
      return std::find(s.shape.begin(), s.shape.end(), 0) != s.shape.end();
    });
  }

  void make_empty() {
    size_t flat = 0;
    for (size_t o = 0; o < out_infos_.size(); ++o)
      for (size_t k = 0; k < out_infos_[o].size(); ++k) {
        DType dtype = c_.op.outs[o].kind == ArgKind::kTensors ? c_.list_metas[k].dtype : c_.meta(o).dtype;
        results_.push_back(Tensor::empty(to_dims(out_shards_[flat++].shape), dtype, c_.place));
      }
  }

  // This rank has no part of what is summed over: it adds zero. Not every kernel likes to be asked.
  bool adds_nothing() const {
    if (dispatch::tracing() || c_.inplace || c_.op.has(kInplaceOnly)) return false;
    bool sums = false, empty = false;
    for (const spmd::AxisRole& role : resolved_.axes)
      sums |= role.factor >= 0 && role.makes_partial == spmd::PartialKind::kSum;
    for (const spmd::LocalShard& s : in_shards_) empty |= std::find(s.shape.begin(), s.shape.end(), 0) != s.shape.end();
    for (const spmd::ResolvedTensor& t : resolved_.inputs) sums &= !spmd::any_partial(t.placements);
    return sums && empty;
  }

  void make_zeros() {
    make_empty();
    for (Tensor& t : results_) t = ops::full_like(t, Scalar(0.0));
  }

  void call_local() {
    if (all_empty()) return make_empty();
    if (adds_nothing()) return make_zeros();
    std::vector<Arg> args(c_.args.begin(), c_.args.end());
    std::forward_list<Tensors> lists;
    std::vector<size_t> first_flat(args.size());
    size_t flat = 0;
    for (size_t a = 0; a < args.size(); ++a) {
      first_flat[a] = flat;
      if (!is_tensor_kind(c_.op.args[a].kind)) continue;
      for (const Tensor& t : args[a].tensors_or_empty()) flat += t.defined();
    }
    protect_targets(first_flat);
    for (size_t a = 0; a < args.size(); ++a) {
      if (!is_tensor_kind(c_.op.args[a].kind) || args[a].none()) continue;
      size_t at = first_flat[a];
      if (args[a].tag() == Arg::Tag::kTensor) {
        args[a] = Arg(locals_[at]);
        continue;
      }
      Tensors& list = lists.emplace_front();
      for (const Tensor& t : c_.args[a].tensors()) list.push_back(t.defined() ? locals_[at++] : Tensor());
      args[a] = Arg(list);
    }
    OpCall local(c_.op, args);
    local.inplace = c_.inplace;
    local.key = c_.key;
    local.key_drawn = c_.key_drawn;
    dispatch::GradMode off(false);
    run_local({local, resolved_, in_shards_, out_shards_, c_.first_meta.shape});
    for (size_t o = 0; o < c_.num_outs(); ++o) {
      if (c_.op.outs[o].kind == ArgKind::kTensors) {
        for (Tensor& t : local.out_list(o))
          if (t.defined()) results_.push_back(std::move(t));
      } else if (local.out(o).defined()) {
        results_.push_back(std::move(local.out(o)));
      }
    }
  }

  void finish() {
    size_t flat = 0, written = 0, expected = 0;
    for (auto& slot : out_infos_) expected += slot.size();
    bool here = mesh_.contains(rank_);
    if (here && results_.size() != expected && !sizes_follow_values_)
      throw_internal(
          __FILE__, __LINE__,
          fmt::format("[{}] yields {} outputs, its shape rule says {}", c_.op.name, results_.size(), expected));
    for (size_t o = 0; o < out_infos_.size(); ++o) {
      bool list = c_.op.outs[o].kind == ArgKind::kTensors;
      for (size_t k = 0; k < out_infos_[o].size(); ++k, ++flat) {
        Tensor local = here ? results_.at(flat) : Tensor();
        Tensor out = inplace(o) ? write_back(o, k, flat, local, written++) : wrapped(o, k, flat, local);
        if (list)
          c_.out_list(o).push_back(std::move(out));
        else
          c_.out(o) = std::move(out);
      }
    }
  }

  AttrPtr attr_of_output(size_t flat) const {
    return std::make_shared<spmd::DistAttr>(spmd::DistAttr{mesh_, resolved_.outputs[flat].placements});
  }

  Tensor write_back(size_t out, size_t item, size_t flat, const Tensor& local, size_t written) {
    Tensor t = target(out, item);
    if (!direct_.empty() && direct_[written]) return t;
    spmd::Shape shape = spmd::sizes_of(t.shape());
    AttrPtr from = attr_of_output(flat);
    spmd::DistAttr to{mesh_, placements_of(t)};
    Tensor back = *from == to ? local : reshard_local(local, shape, t.dtype(), *from, to);
    Tensor memory = t.is_dist() ? spmd::dist_payload(t).local : t;
    if (dispatch::Trace* trace = dispatch::Trace::active())
      trace->write(memory, back, true);
    else if (memory.defined())
      dispatch::copy_into(memory, back);
    return t;
  }

  Tensor wrapped(size_t out, size_t item, size_t flat, const Tensor& local) {
    const TensorMeta& m = c_.op.outs[out].kind == ArgKind::kTensors ? c_.list_metas[item] : c_.meta(out);
    if (sizes_follow_values_)
      return spmd::make_dist(local.defined() ? local.shape() : m.shape, m.dtype, c_.place, attr_of_output(flat), local);
    if (local.defined() && spmd::sizes_of(local.shape()) != out_shards_[flat].shape)
      throw_internal(
          __FILE__, __LINE__,
          fmt::format("[{}] a shard of output {} has shape {}, its sharding rule says {}; placements {}", c_.op.name,
                      flat, to_string(local.shape()), to_string(to_dims(out_shards_[flat].shape)),
                      spmd::to_string(resolved_.outputs[flat].placements)));
    return spmd::make_dist(m.shape, m.dtype, c_.place, attr_of_output(flat), local);
  }

  // The shape rule has seen distributed tensors, whose elements it can't read: a size among them is open.
  static bool has_open_size(std::span<const spmd::Slot> outputs) {
    auto open = [](const spmd::TensorInfo& t) {
      return std::any_of(t.shape.begin(), t.shape.end(), [](auto n) { return n < 0; });
    };
    return std::any_of(outputs.begin(), outputs.end(),
                       [&](const spmd::Slot& s) { return std::any_of(s.begin(), s.end(), open); });
  }
  static paddle::Shape to_dims(const spmd::Shape& s) { return {s.begin(), s.end()}; }

  OpCall& c_;
  spmd::ProcessMesh mesh_;
  int rank_;
  bool sizes_follow_values_ = false;  // outputs have the shapes that the whole inputs' values give
  spmd::Resolved resolved_;
  std::vector<spmd::Slot> out_infos_;
  std::vector<spmd::LocalShard> in_shards_, out_shards_;
  Tensors locals_, results_;
  std::vector<bool> direct_;  // by in-place output
};

// Optimizers' lists: parameter k, its gradient and its states are updated together, wherever they lie. They meet where
// the first state of the parameter's shape lies (states that are sharded more finely than their parameter are ZeRO's
// first stage), else where the parameter does. Tensors of other shapes (powers of beta) are the same on every rank.
class PerItemCall {
 public:
  explicit PerItemCall(OpCall& c)
      : c_(c), params_(c.args[static_cast<size_t>(c.op.outs[0].inplace_of)].tensors_or_empty()) {}

  void run() {
    for (size_t k = 0; k < params_.size(); ++k) homes_.push_back(home_of(k));
    std::vector<Arg> args(c_.args.begin(), c_.args.end());
    std::forward_list<Tensors> lists;
    for (size_t a = 0; a < args.size(); ++a) {
      if (!is_tensor_kind(c_.op.args[a].kind) || args[a].none()) continue;
      args[a] = Arg(lists.emplace_front(local_list(a)));
    }
    OpCall local(c_.op, args);
    local.inplace = c_.inplace;
    dispatch::GradMode off(false);
    if (dispatch::Trace* trace = dispatch::Trace::active())
      trace->call(local, 0);
    else
      dispatch::run_eager(local);
    for (auto& [target, value] : moved_) bring_back(target, value);
    for (size_t o = 0; o < c_.num_outs(); ++o) {
      if (c_.op.outs[o].inplace_of < 0) continue;
      auto list = c_.args[static_cast<size_t>(c_.op.outs[o].inplace_of)].tensors_or_empty();
      c_.out_list(o).assign(list.begin(), list.end());
    }
  }

 private:
  bool written(size_t a) const {
    return std::any_of(c_.op.outs.begin(), c_.op.outs.end(),
                       [&](const OutInfo& o) { return o.inplace_of == static_cast<int>(a); });
  }

  AttrPtr home_of(size_t k) const {
    AttrPtr home = params_[k].is_dist() ? spmd::dist_payload(params_[k]).attr : nullptr;
    for (size_t a = 0; a < c_.args.size(); ++a) {
      if (!written(a) || a == static_cast<size_t>(c_.op.outs[0].inplace_of)) continue;
      auto list = c_.args[a].tensors_or_empty();
      if (k < list.size() && list[k].defined() && list[k].is_dist() && list[k].shape() == params_[k].shape())
        return spmd::dist_payload(list[k]).attr;
    }
    return home;
  }

  // The part of every item that this rank updates; items of meshes that it is not in are left out.
  Tensors local_list(size_t a) {
    auto items = c_.args[a].tensors();
    Tensors list;
    for (size_t k = 0; k < items.size(); ++k) {
      bool here = k >= params_.size() || !homes_[k] || homes_[k]->mesh.contains(Environment::current().rank());
      Tensor local = items[k].defined() ? local_item(a, k, items[k]) : Tensor();
      if (here) list.push_back(std::move(local));
    }
    return list;
  }

  Tensor local_item(size_t a, size_t k, const Tensor& t) {
    bool along = k < params_.size() && homes_[k] && t.shape() == params_[k].shape();
    if (!along) return whole_value(t);
    if (t.is_dist() && spmd::dist_attr(t) == *homes_[k]) return spmd::dist_payload(t).local;
    Tensor there = reshard_value(t, homes_[k]);
    Tensor local = spmd::dist_payload(there).local;
    if (!written(a)) return local;
    if (local.defined()) spmd::dist_payload(there).local = local = fresh(local);
    moved_.emplace_back(t, there);
    return local;
  }

  static void bring_back(const Tensor& target, const Tensor& value) {
    if (target.is_dist())
      assign_value(target, value);
    else
      overwrite(target, whole_value(value));
  }
  static void overwrite(const Tensor& target, const Tensor& value) {
    if (dispatch::Trace* trace = dispatch::Trace::active())
      trace->write(target, value, true);
    else
      dispatch::copy_into(target, value);
  }

  OpCall& c_;
  std::span<const Tensor> params_;
  std::vector<AttrPtr> homes_;  // null: a plain parameter with plain states
  std::vector<std::pair<Tensor, Tensor>> moved_;
};

// reshard in a program that is being partitioned: the target is a wish that the plan fulfils.
void call_captured(OpCall& c) {
  check(c.op.name == "reshard", ErrorKind::kNotImplemented, "[{}] can't be captured in a distributed program",
        c.op.name);
  c.out(0) = reshard_to(c.tensor(0), c.args[1].str());
}

void dist_call(OpCall& c) {
  resolve_numbers(c);
  if (c.op.spmd == kOwnRule) {
    c.place = Place::cpu();
    if (c.op.meta) c.op.meta(c);
    if (dispatch::tracing()) return call_captured(c);
    kernels::find_kernel(c.op, c.place.kind)(c);
    return;
  }
  if (c.op.spmd == kPerItem) return PerItemCall(c).run();
  bool any = false;
  each_input(c, [&](size_t, size_t, const Tensor& t) { any |= t.is_dist(); });
  if (!any && !dispatch::tracing()) return dispatch::run_eager(c);  // only a number was distributed
  DistCall(c).run();
}

[[maybe_unused]] const bool installed = (dispatch::dist_call = dist_call, whole_of_dist = whole_value, true);

}  // namespace
}  // namespace paddle::distributed
