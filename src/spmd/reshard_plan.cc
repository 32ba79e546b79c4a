#include "spmd/reshard_plan.h"

#include <algorithm>

#include "base/error.h"
#include "spmd/propagate.h"

namespace paddle::spmd {
namespace {

// Steps on one mesh. `now_` is where the tensor lies after the steps so far.
class Planner {
 public:
  Planner(const Placements& from, const Placements& to) : now_(from), to_(to) {}

  std::vector<ReshardStep> run() {
    int axes = static_cast<int>(to_.size());
    // Each round takes what is free, then what costs least; every axis is undone at most once and built once.
    for (int round = 0; now_ != to_; ++round) {
      PD_INVARIANT(round <= 4 * axes + 4);
      bool moved = cut_all() || transfer_one() || undo_one() || make_partial();
      PD_INVARIANT(moved);
    }
    return std::move(steps_);
  }

 private:
  int axes() const { return static_cast<int>(to_.size()); }

  // Axis `a` may become a sharder of `dim`: the outer axes that shall shard it already do, no others stand before it,
  // and no inner axis does yet.
  bool may_shard(int a, int dim) const {
    for (int b = 0; b < axes(); ++b) {
      if (b == a) continue;
      if (b < a && now_[b].is_shard(dim) != to_[b].is_shard(dim)) return false;
      if (b > a && now_[b].is_shard(dim)) return false;
    }
    return true;
  }

  // Axis `a` may stop sharding `dim`: it is the innermost that does.
  bool innermost(int a, int dim) const {
    for (int b = a + 1; b < axes(); ++b)
      if (now_[b].is_shard(dim)) return false;
    return true;
  }

  // An axis that stands as it shall must still be undone when an outer one of the same dimension has to change.
  bool in_the_way(int a) const {
    if (!now_[a].is_shard()) return false;
    for (int b = 0; b < a; ++b)
      if (now_[b].is_shard(now_[a].dim) != to_[b].is_shard(now_[a].dim)) return true;
    return false;
  }

  bool cut_all() {
    bool any = false;
    for (int a = 0; a < axes(); ++a)
      if (now_[a].is_replicate() && to_[a].is_shard() && may_shard(a, to_[a].dim)) {
        add(ReshardStep::kSlice, a, to_[a].dim, -1, {}, to_[a]);
        any = true;
      }
    return any;
  }

  // Partial -> Shard and Shard -> Shard in one step.
  bool transfer_one() {
    for (int a = axes() - 1; a >= 0; --a) {
      if (!to_[a].is_shard() || now_[a] == to_[a] || !may_shard(a, to_[a].dim)) continue;
      if (now_[a].is_partial()) {
        add(ReshardStep::kReduceScatter, a, to_[a].dim, -1, now_[a].partial, to_[a]);
        return true;
      }
      if (now_[a].is_shard() && innermost(a, now_[a].dim)) {
        add(ReshardStep::kAllToAll, a, to_[a].dim, now_[a].dim, {}, to_[a]);
        return true;
      }
    }
    return false;
  }

  bool undo_one() {
    for (int a = axes() - 1; a >= 0; --a) {
      if (now_[a] == to_[a] && !in_the_way(a)) continue;
      if (now_[a].is_partial()) {
        add(ReshardStep::kAllReduce, a, -1, -1, now_[a].partial, Replicate());
        return true;
      }
      if (now_[a].is_shard() && innermost(a, now_[a].dim)) {
        add(ReshardStep::kAllGather, a, now_[a].dim, -1, {}, Replicate());
        return true;
      }
    }
    return false;
  }

  bool make_partial() {
    for (int a = 0; a < axes(); ++a)
      if (now_[a].is_replicate() && to_[a].is_partial()) {
        add(ReshardStep::kToPartial, a, -1, -1, to_[a].partial, to_[a]);
        return true;
      }
    return false;
  }

  void add(ReshardStep::Op op, int axis, int dim, int from_dim, PartialKind kind, Placement result) {
    ReshardStep step{op, axis, dim, from_dim, kind, now_, now_, {}};
    step.after[axis] = result;
    now_ = step.after;
    steps_.push_back(std::move(step));
  }

  Placements now_, to_;
  std::vector<ReshardStep> steps_;
};

std::vector<ReshardStep> on_one_mesh(const Placements& from, const Placements& to) { return Planner(from, to).run(); }

double bytes_of(const std::vector<ReshardStep>& steps, const ProcessMesh& mesh, const Shape& shape, double itemsize) {
  double total = 0;
  for (const ReshardStep& s : steps) {
    if (!s.communicates()) continue;
    Placements shared = s.op == ReshardStep::kMove ? s.before : s.after;
    if (s.op != ReshardStep::kMove) shared[s.mesh_axis] = Replicate();
    double bytes = itemsize;
    for (int64_t n : largest_local_shape(shape, mesh, shared)) bytes *= n < 0 ? 128.0 : static_cast<double>(n);
    total += s.op == ReshardStep::kMove
                 ? bytes
                 : transition_bytes(s.before[s.mesh_axis], s.after[s.mesh_axis], bytes, mesh.dim_size(s.mesh_axis));
  }
  return total;
}

// Ranks at the same place of two meshes of one shape change over, sharded or not.
ReshardStep move_alike(const ProcessMesh& from, const ProcessMesh& to, const Placements& placements) {
  ReshardStep step{ReshardStep::kMove};
  step.before = step.after = placements;
  for (int64_t i = 0; i < to.size(); ++i) step.pairs.push_back({from.process_ids()[i], to.process_ids()[i]});
  return step;
}

// Any two meshes: the whole tensor goes to every rank of the new one; who has it keeps it, the rest spread over
// senders.
ReshardStep move_whole(const ProcessMesh& from, const ProcessMesh& to) {
  ReshardStep step{ReshardStep::kMove};
  step.before.resize(from.ndim());
  step.after.resize(to.ndim());
  for (int64_t i = 0; i < to.size(); ++i) {
    int64_t id = to.process_ids()[i];
    step.pairs.push_back({from.contains(id) ? id : from.process_ids()[i % from.size()], id});
  }
  return step;
}

void append(std::vector<ReshardStep>& to, std::vector<ReshardStep> steps) {
  std::move(steps.begin(), steps.end(), std::back_inserter(to));
}

}  // namespace

ReshardPlan plan_reshard(const Shape& shape, const DistAttr& from, const DistAttr& to) {
  ReshardPlan plan{from.mesh, to.mesh, {}};
  bool same_ranks = from.mesh.shape() == to.mesh.shape() && from.mesh.process_ids() == to.mesh.process_ids();
  if (same_ranks) {
    plan.steps = on_one_mesh(from.placements, to.placements);
  } else if (from.mesh.shape() == to.mesh.shape()) {
    auto before = on_one_mesh(from.placements, to.placements), after = before;
    before.push_back(move_alike(from.mesh, to.mesh, to.placements));
    after.insert(after.begin(), move_alike(from.mesh, to.mesh, from.placements));
    bool first = bytes_of(before, from.mesh, shape, 1) <= bytes_of(after, to.mesh, shape, 1);
    plan.steps = first ? std::move(before) : std::move(after);
  } else {
    Placements everywhere_from(from.mesh.ndim()), everywhere_to(to.mesh.ndim());
    plan.steps = on_one_mesh(from.placements, everywhere_from);
    plan.steps.push_back(move_whole(from.mesh, to.mesh));
    append(plan.steps, on_one_mesh(everywhere_to, to.placements));
  }
  return plan;
}

double neutral_element(PartialKind kind) { return kind == PartialKind::kProd || kind == PartialKind::kAll ? 1.0 : 0.0; }

bool replicate_is_partial(PartialKind kind) {
  return kind == PartialKind::kAvg || kind == PartialKind::kMax || kind == PartialKind::kMin;
}

double estimate_bytes(const ReshardPlan& plan, const Shape& shape, int64_t itemsize) {
  auto move = std::find_if(plan.steps.begin(), plan.steps.end(), [](auto& s) { return s.op == ReshardStep::kMove; });
  std::vector<ReshardStep> here(plan.steps.begin(), move), there(move, plan.steps.end());
  double bytes = bytes_of(here, plan.from_mesh, shape, static_cast<double>(itemsize));
  if (!there.empty()) {
    double moved = bytes_of({there.front()}, plan.from_mesh, shape, static_cast<double>(itemsize));
    there.erase(there.begin());
    bytes += moved + bytes_of(there, plan.to_mesh, shape, static_cast<double>(itemsize));
  }
  return bytes;
}

DistAttr gradient_attr(DistAttr x, const DistAttr* grad) {
  bool alike = grad && grad->mesh == x.mesh;
  for (size_t a = 0; a < x.placements.size(); ++a) {
    Placement& p = x.placements[a];
    if (p.is_partial())
      p = Replicate();
    else if (p.is_replicate() && alike)
      p = grad->placements[a];
  }
  // A dimension that stays sharded by an axis must not be sharded again by another in the wrong order: any order is a
  // valid distribution, so nothing more is to be seen to.
  return x;
}

Placements dual(const Placements& placements) {
  Placements result = placements;
  for (Placement& p : result) {
    if (p.is_replicate())
      p = Partial();
    else if (p.is_partial())
      p = Replicate();
  }
  return result;
}

std::string ReshardStep::to_string() const {
  switch (op) {
    case kSlice:
      return fmt::format("slice(dim={}, axis={})", dim, mesh_axis);
    case kToPartial:
      return fmt::format("to_partial({}, axis={})", name_of(kind), mesh_axis);
    case kAllGather:
      return fmt::format("all_gather(dim={}, axis={})", dim, mesh_axis);
    case kAllReduce:
      return fmt::format("all_reduce({}, axis={})", name_of(kind), mesh_axis);
    case kReduceScatter:
      return fmt::format("reduce_scatter({}, dim={}, axis={})", name_of(kind), dim, mesh_axis);
    case kAllToAll:
      return fmt::format("all_to_all(from={}, to={}, axis={})", from_dim, dim, mesh_axis);
    case kMove: {
      std::string s = "move(";
      for (const Pair& p : pairs) s += fmt::format("{}{}->{}", s.size() > 5 ? ", " : "", p.from, p.to);
      return s + ")";
    }
  }
  return "?";
}

std::string ReshardPlan::to_string() const {
  std::string s;
  for (const ReshardStep& step : steps) s += (s.empty() ? "" : "; ") + step.to_string();
  return s;
}

}  // namespace paddle::spmd
