#include "spmd/propagate.h"

#include <algorithm>

#include "base/error.h"
#include "spmd/local_shape.h"

namespace paddle::spmd {
namespace {

constexpr int64_t kUnknownSize = 128;  // what an unknown size counts for in estimates

// What the operator may do along one mesh axis.
struct Choice {
  int factor = -1;
  const PartialPass* pass = nullptr;
  PartialKind kind = PartialKind::kSum;
};

bool holds(const std::vector<int>& list, int x) { return std::find(list.begin(), list.end(), x) != list.end(); }

class Propagator {
 public:
  Propagator(const RuleInstance& rule, std::span<const Known> inputs, std::span<const Known> outputs,
             const ProcessMesh& mesh)
      : rule_(rule), known_in_(inputs), known_out_(outputs), mesh_(mesh) {
    result_.inputs.resize(rule.inputs.size());
    result_.outputs.resize(rule.outputs.size());
    for (const Factor& f : rule.factors) left_.push_back(f.size);
  }

  Resolved run() {
    result_.unknown_rule = rule_.replicate_all;
    result_.reason = rule_.reason;
    for (int axis = 0; axis < mesh_.ndim(); ++axis) decide(axis);
    mark_reshards();
    return std::move(result_);
  }

 private:
  const Known* known_input(size_t i) const { return i < known_in_.size() && known_in_[i] ? &known_in_[i] : nullptr; }
  const Known* known_output(size_t i) const {
    return i < known_out_.size() && known_out_[i] ? &known_out_[i] : nullptr;
  }

  void decide(int axis) {
    std::vector<Choice> choices = suggested(axis);
    choices.push_back({});  // replicate: always possible, and last, so that ties shard
    const Choice* best = nullptr;
    double best_cost = 0;
    for (const Choice& c : choices) {
      double cost = cost_of(c, axis);
      if (!best || cost < best_cost) best = &c, best_cost = cost;
    }
    take(*best, axis);
  }

  // Choices that some known placement suggests: factors by number, then passes in order.
  std::vector<Choice> suggested(int axis) const {
    std::vector<Choice> choices;
    if (mesh_.dim_size(axis) == 1 && !any_known_shard(axis) && !any_known_partial(axis)) return choices;
    if (rule_.replicate_all) return choices;
    std::vector<int> factors;
    auto from = [&](const TensorFactors& t, const Known* known) {
      if (!known) return;
      const Placement& p = (**known).at(axis);
      if (!p.is_shard() || p.dim >= static_cast<int>(t.dims.size())) return;
      int f = factor_at(t.dims[p.dim], axis);
      if (f >= 0 && !holds(factors, f)) factors.push_back(f);
    };
    for (size_t i = 0; i < rule_.inputs.size(); ++i) from(rule_.inputs[i], known_input(i));
    for (size_t i = 0; i < rule_.outputs.size(); ++i) from(rule_.outputs[i], known_output(i));
    std::sort(factors.begin(), factors.end());
    for (int f : factors) choices.push_back({f});
    for (const PartialPass& pass : rule_.passes) suggest_pass(pass, axis, choices);
    return choices;
  }

  void suggest_pass(const PartialPass& pass, int axis, std::vector<Choice>& choices) const {
    for (int i : pass.inputs)
      if (const Known* known = known_input(i);
          known && (**known)[axis].is_partial() && pass.lets((**known)[axis].partial))
        return choices.push_back({-1, &pass, (**known)[axis].partial});
    // Backwards: an output that is wanted Partial, with inputs that nothing is known of.
    for (size_t o = 0; o < rule_.outputs.size(); ++o)
      if (const Known* known = known_output(o);
          known && (**known)[axis].is_partial() && pass.lets((**known)[axis].partial)) {
        bool free = std::none_of(pass.inputs.begin(), pass.inputs.end(), [&](int i) { return known_input(i); });
        if (free) return choices.push_back({-1, &pass, (**known)[axis].partial});
      }
  }

  bool any_known(int axis, bool (Placement::*is)() const) const {
    auto test = [&](const Known& k) { return k && ((*k)[axis].*is)(); };
    return std::any_of(known_in_.begin(), known_in_.end(), test) ||
           std::any_of(known_out_.begin(), known_out_.end(), test);
  }
  bool any_known_shard(int axis) const { return any_known(axis, &Placement::is_shard); }
  bool any_known_partial(int axis) const { return any_known(axis, &Placement::is_partial); }

  // The factor that sharding this dimension along `axis` shards, or -1. Of a compound it is the outermost that earlier
  // axes have left something of; there the cut must be even, else the shards of the merged dimension are not blocks.
  int factor_at(const std::vector<int>& dim, int axis) const {
    for (int f : dim) {
      if (dim.size() > 1 && left_[f] == 1) continue;
      return may_shard(f, axis) ? f : -1;
    }
    return -1;
  }

  // True if some tensor merges the factor with others in a dimension where more than one of them counts.
  bool in_compound(int f) const {
    auto merged = [&](const TensorFactors& t) {
      return std::any_of(t.dims.begin(), t.dims.end(), [&](auto& dim) { return dim.size() > 1 && holds(dim, f); });
    };
    return std::any_of(rule_.inputs.begin(), rule_.inputs.end(), merged) ||
           std::any_of(rule_.outputs.begin(), rule_.outputs.end(), merged);
  }

  // A factor inside a compound is reached only when those outside it are used up, in every tensor.
  bool outermost_everywhere(int f) const {
    auto ok = [&](const TensorFactors& t) {
      for (const auto& dim : t.dims)
        if (holds(dim, f))
          for (int outer : dim) {
            if (outer == f) break;
            if (left_[outer] != 1) return false;
          }
      return true;
    };
    return std::all_of(rule_.inputs.begin(), rule_.inputs.end(), ok) &&
           std::all_of(rule_.outputs.begin(), rule_.outputs.end(), ok);
  }

  bool may_shard(int f, int axis) const {
    const Factor& factor = rule_.factors[f];
    int64_t parts = mesh_.dim_size(axis), size = left_[f];
    if (factor.whole || !outermost_everywhere(f)) return false;
    if (in_compound(f) && (size < 0 || size % parts != 0)) return false;
    if (!factor.reduce || size < 0) return true;
    // A mean of means is the mean only of equal parts; an empty part has no maximum.
    if (*factor.reduce == PartialKind::kAvg) return size % parts == 0;
    if (*factor.reduce == PartialKind::kMax || *factor.reduce == PartialKind::kMin)
      return shard_range(smallest_part(f), parts, parts - 1).size > 0;
    return true;
  }

  // The smallest shard that the axes decided so far have left of a factor.
  int64_t smallest_part(int f) const {
    int64_t n = rule_.factors[f].size;
    for (size_t axis = 0; axis < result_.axes.size(); ++axis)
      if (result_.axes[axis].factor == f) {
        int64_t parts = mesh_.dim_size(static_cast<int>(axis));
        n = shard_range(n, parts, parts - 1).size;
      }
    return n;
  }

  Placement shard_of(const TensorFactors& t, int factor) const {
    for (size_t d = 0; d < t.dims.size(); ++d)
      if (holds(t.dims[d], factor)) return Shard(static_cast<int>(d));
    return Replicate();
  }

  Placement input_placement(const Choice& c, int i) const {
    if (c.pass) return holds(c.pass->inputs, i) ? Partial(c.kind) : Replicate();
    if (c.factor < 0) return Replicate();
    const Factor& factor = rule_.factors[c.factor];
    Placement p = shard_of(rule_.inputs[i], c.factor);
    return p.is_replicate() && factor.reduce && holds(factor.additive, i) ? Partial(*factor.reduce) : p;
  }

  Placement output_placement(const Choice& c, int o) const {
    if (c.pass) return Partial(c.kind);
    if (c.factor < 0) return Replicate();
    Placement p = shard_of(rule_.outputs[o], c.factor);
    const auto& reduce = rule_.factors[c.factor].reduce;
    return p.is_replicate() && reduce ? Partial(*reduce) : p;
  }

  // Bytes of the tensor that the ranks along `axis` share, under the axes decided before.
  double shared_bytes(const TensorFactors& t, const Placements& decided) const {
    double bytes = static_cast<double>(t.itemsize);
    for (int64_t n : largest_local_shape(t.shape, mesh_, decided))
      bytes *= static_cast<double>(n < 0 ? kUnknownSize : n);
    return bytes;
  }

  double cost_of(const Choice& c, int axis) const {
    double cost = 0;
    int64_t parts = mesh_.dim_size(axis);
    for (size_t i = 0; i < rule_.inputs.size(); ++i)
      if (const Known* known = known_input(i))
        cost += transition_bytes((**known)[axis], input_placement(c, static_cast<int>(i)),
                                 shared_bytes(rule_.inputs[i], result_.inputs[i].placements), parts);
    for (size_t o = 0; o < rule_.outputs.size(); ++o)
      if (const Known* known = known_output(o))
        cost += transition_bytes(output_placement(c, static_cast<int>(o)), (**known)[axis],
                                 shared_bytes(rule_.outputs[o], result_.outputs[o].placements), parts);
    return cost;
  }

  void take(const Choice& c, int axis) {
    for (size_t i = 0; i < rule_.inputs.size(); ++i)
      result_.inputs[i].placements.push_back(input_placement(c, static_cast<int>(i)));
    for (size_t o = 0; o < rule_.outputs.size(); ++o)
      result_.outputs[o].placements.push_back(output_placement(c, static_cast<int>(o)));
    AxisRole role{c.factor};
    if (c.pass) role.makes_partial = c.kind;
    if (c.factor >= 0) {
      role.label = rule_.factors[c.factor].label;
      role.makes_partial = rule_.factors[c.factor].reduce;
      int64_t& left = left_[c.factor];
      int64_t parts = mesh_.dim_size(axis);
      if (left >= 0) left = (left + parts - 1) / parts;
    }
    result_.axes.push_back(std::move(role));
  }

  void mark_reshards() {
    for (size_t i = 0; i < rule_.inputs.size(); ++i)
      if (const Known* known = known_input(i)) result_.inputs[i].reshard = **known != result_.inputs[i].placements;
    for (size_t o = 0; o < rule_.outputs.size(); ++o)
      if (const Known* known = known_output(o)) result_.outputs[o].reshard = **known != result_.outputs[o].placements;
  }

  const RuleInstance& rule_;
  std::span<const Known> known_in_, known_out_;
  const ProcessMesh& mesh_;
  std::vector<int64_t> left_;  // of each factor, after the axes decided so far: the largest shard
  Resolved result_;
};

void verify(std::span<const Known> known, const std::vector<TensorFactors>& tensors, const ProcessMesh& mesh) {
  PD_INVARIANT(known.size() <= tensors.size());
  for (size_t i = 0; i < known.size(); ++i) {
    if (!known[i]) continue;
    PD_INVARIANT(static_cast<int>(known[i]->size()) == mesh.ndim());
    for (const Placement& p : *known[i])
      PD_INVARIANT(!p.is_shard() || (p.dim >= 0 && p.dim < static_cast<int>(tensors[i].shape.size())));
  }
}

}  // namespace

bool Resolved::any_reshard() const {
  auto yes = [](const ResolvedTensor& t) { return t.reshard; };
  return std::any_of(inputs.begin(), inputs.end(), yes) || std::any_of(outputs.begin(), outputs.end(), yes);
}

bool Resolved::any_partial_output() const {
  return std::any_of(outputs.begin(), outputs.end(), [](auto& t) { return any_partial(t.placements); });
}

double transition_bytes(const Placement& from, const Placement& to, double bytes, int64_t parts) {
  if (from == to || parts == 1) return 0;
  double others = static_cast<double>(parts - 1) / static_cast<double>(parts);
  if (from.is_replicate()) return 0;  // cut, or zero: nothing travels
  if (from.is_partial()) return to.is_shard() ? bytes * others : 2 * bytes * others;
  return to.is_shard() ? bytes * others / static_cast<double>(parts) : bytes * others;
}

Resolved propagate(const RuleInstance& rule, std::span<const Known> inputs, std::span<const Known> outputs,
                   const ProcessMesh& mesh) {
  verify(inputs, rule.inputs, mesh);
  verify(outputs, rule.outputs, mesh);
  return Propagator(rule, inputs, outputs, mesh).run();
}

}  // namespace paddle::spmd
