#include "distributed/reshard.h"

#include <algorithm>

#include "api/ops.h"
#include "dispatch/eager.h"
#include "dispatch/state.h"
#include "dispatch/trace.h"
#include "distributed/collectives.h"
#include "distributed/environment.h"
#include "spmd/attr_text.h"
#include "spmd/reshard_plan.h"

namespace paddle::distributed {
namespace {

using spmd::ReshardStep;

paddle::Shape to_shape(const spmd::Shape& sizes) {
  paddle::Shape s;
  for (int64_t n : sizes) s.push_back(Dim(n));
  return s;
}

// One rank's way through a plan.
class Walker {
 public:
  Walker(const spmd::Shape& shape, DType dtype, const spmd::ReshardPlan& plan)
      : shape_(shape), dtype_(dtype), plan_(plan), env_(Environment::current()) {}

  Tensor run(Tensor local) {
    const spmd::ProcessMesh* mesh = &plan_.from_mesh;
    for (const ReshardStep& step : plan_.steps) {
      if (step.op == ReshardStep::kMove) {
        mesh = &plan_.to_mesh;
        local = dispatch::tracing() ? capture_move(local, step) : move(local, step);
      } else if (local.defined()) {
        local = local.is_dense()    ? take(local, step, *mesh)
                : local.is_traced() ? capture(local, step, *mesh)
                                    : describe(local, step, *mesh);
      }
    }
    return plan_.to_mesh.contains(env_.rank()) ? local : Tensor();
  }

 private:
  spmd::Shape coordinate(const spmd::ProcessMesh& mesh) const { return *mesh.coordinate_of(env_.rank()); }

  spmd::LocalShard part(const spmd::ProcessMesh& mesh, const spmd::Placements& p) const {
    return spmd::local_shard(shape_, mesh, p, coordinate(mesh));
  }

  Tensor describe(const Tensor& local, const ReshardStep& step, const spmd::ProcessMesh& mesh) const {
    return Tensor::meta(to_shape(part(mesh, step.after).shape), dtype_, local.place());
  }

  comm::ProcessGroup& group(const spmd::ProcessMesh& mesh, int axis) const {
    std::vector<int64_t> ids = mesh.group_along(env_.rank(), axis);
    return env_.group(env_.group_of({ids.begin(), ids.end()}));
  }

  Tensor take(const Tensor& local, const ReshardStep& step, const spmd::ProcessMesh& mesh) const {
    int64_t parts = mesh.dim_size(step.mesh_axis), index = coordinate(mesh)[static_cast<size_t>(step.mesh_axis)];
    switch (step.op) {
      case ReshardStep::kSlice:
        return copy_of(part_of(local, step.dim, parts, index));
      case ReshardStep::kToPartial:
        if (index == 0 || spmd::replicate_is_partial(step.kind)) return local;
        return ops::full_like(local, Scalar(spmd::neutral_element(step.kind)));
      case ReshardStep::kAllGather:
        return all_gather(local, group(mesh, step.mesh_axis), step.dim,
                          part(mesh, step.after).shape[static_cast<size_t>(step.dim)]);
      case ReshardStep::kAllReduce:
        return all_reduce(local, group(mesh, step.mesh_axis), reduce_op(step.kind));
      case ReshardStep::kReduceScatter:
        return reduce_scatter(local, group(mesh, step.mesh_axis), reduce_op(step.kind), step.dim);
      case ReshardStep::kAllToAll:
        return all_to_all(local, group(mesh, step.mesh_axis), step.dim, step.from_dim,
                          part(mesh, step.after).shape[static_cast<size_t>(step.from_dim)]);
      case ReshardStep::kMove:
        break;
    }
    return local;
  }

  // The step as operators of the program that is being captured.
  Tensor capture(const Tensor& local, const ReshardStep& step, const spmd::ProcessMesh& mesh) const {
    int64_t parts = mesh.dim_size(step.mesh_axis), index = coordinate(mesh)[static_cast<size_t>(step.mesh_axis)];
    std::vector<int64_t> ids = mesh.group_along(env_.rank(), step.mesh_axis);
    auto ring = [&] { return env_.group_of({ids.begin(), ids.end()}); };
    auto size = [&](int dim) { return part(mesh, step.after).shape[static_cast<size_t>(dim)]; };
    int64_t reduce = static_cast<int64_t>(reduce_op(step.kind));
    switch (step.op) {
      case ReshardStep::kSlice: {
        spmd::Range r = spmd::shard_range(part(mesh, step.before).shape[static_cast<size_t>(step.dim)], parts, index);
        return ops::slice(local, {step.dim}, Ints{r.offset}, Ints{r.offset + r.size});
      }
      case ReshardStep::kToPartial:
        if (index == 0 || spmd::replicate_is_partial(step.kind)) return local;
        return ops::full_like(local, Scalar(spmd::neutral_element(step.kind)));
      case ReshardStep::kAllGather:
        return ops::all_gather(local, ring(), parts, step.dim, size(step.dim), index);
      case ReshardStep::kAllReduce:
        return ops::all_reduce(local, ring(), reduce);
      case ReshardStep::kReduceScatter:
        return ops::reduce_scatter(local, ring(), parts, reduce, step.dim, index);
      case ReshardStep::kAllToAll:
        return ops::all_to_all(local, ring(), parts, step.dim, step.from_dim, size(step.from_dim), index);
      case ReshardStep::kMove:
        break;
    }
    return local;
  }

  // The pairs come in one order on all ranks, so a send always finds its receiver waiting or on the way there.
  Tensor capture_move(const Tensor& local, const ReshardStep& step) const {
    int me = env_.rank();
    Tensor received;
    for (const auto& [from, to] : step.pairs) {
      if (from == me && to == me) received = local;
      if (from == to) continue;
      if (from == me) ops::send_v2(local, 0, to);
      if (to != me) continue;
      const spmd::Shape& sizes = part(plan_.to_mesh, step.after).shape;
      for (int64_t n : sizes)
        check(n >= 0, ErrorKind::kNotImplemented,
              "[reshard] in a program, what moves to another mesh must have sizes known at capture, got {}",
              to_string(to_shape(shape_)));
      received = ops::recv_v2(sizes, dtype_, from, 0);
    }
    return received;
  }

  // Between meshes: sends and receives through the group of all ranks.
  Tensor move(const Tensor& local, const ReshardStep& step) const {
    int me = env_.rank();
    Tensor received;
    std::vector<comm::WorkPtr> sent;
    Tensor out = local.defined() && local.is_dense() ? contiguous(local) : local;
    for (const auto& [from, to] : step.pairs) {
      if (from == me && to != me && out.defined() && out.is_dense())
        sent.push_back(env_.group(0).send(out.data(), out.numel(), dtype_, static_cast<int>(to), comm::Async::kYes));
      if (to != me) continue;
      if (from == me) {
        received = out;
        continue;
      }
      received = Tensor::empty(to_shape(part(plan_.to_mesh, step.after).shape), dtype_, Place::cpu());
      Waiting waiting;
      env_.group(0).recv(received.data(), received.numel(), dtype_, static_cast<int>(from));
    }
    Waiting waiting;
    for (auto& work : sent) work->wait();
    return received;
  }

  const spmd::Shape& shape_;
  DType dtype_;
  const spmd::ReshardPlan& plan_;
  Environment& env_;
};

spmd::DistAttr replicated(const spmd::ProcessMesh& mesh) {
  return {mesh, spmd::Placements(static_cast<size_t>(mesh.ndim()))};
}

thread_local const spmd::ProcessMesh* everyone = nullptr;

bool covers(const spmd::ProcessMesh& mesh, const spmd::ProcessMesh& ranks) {
  return std::ranges::all_of(ranks.process_ids(), [&](int64_t id) { return mesh.contains(id); });
}

}  // namespace

WholeScope::WholeScope(const std::set<int64_t>& ranks)
    : mesh_({static_cast<int64_t>(ranks.size())}, {ranks.begin(), ranks.end()}, {"all"}), before_(everyone) {
  everyone = &mesh_;
}
WholeScope::~WholeScope() { everyone = before_; }

Tensor reshard_local(const Tensor& local, const spmd::Shape& shape, DType dtype, const spmd::DistAttr& from,
                     const spmd::DistAttr& to) {
  dispatch::GradMode off(false);
  spmd::ReshardPlan plan = spmd::plan_reshard(shape, from, to);
  return Walker(shape, dtype, plan).run(local);
}

Tensor cut_whole(const Tensor& whole, const AttrPtr& to) {
  if (!to->mesh.contains(Environment::current().rank())) return Tensor();
  return reshard_local(whole, spmd::sizes_of(whole.shape()), whole.dtype(), replicated(to->mesh), *to);
}

Tensor reshard_value(const Tensor& t, const AttrPtr& to) {
  Tensor local;
  if (t.is_dist()) {
    const spmd::DistPayload& p = spmd::dist_payload(t);
    local = reshard_local(p.local, spmd::sizes_of(t.shape()), t.dtype(), *p.attr, *to);
  } else {
    local = cut_whole(t, to);
  }
  return spmd::make_dist(t.shape(), t.dtype(), t.place(), to, std::move(local));
}

Tensor whole_value(const Tensor& t) {
  if (!t.is_dist()) return t;
  const spmd::DistPayload& p = spmd::dist_payload(t);
  spmd::DistAttr to = replicated(everyone && !covers(p.attr->mesh, *everyone) ? *everyone : p.attr->mesh);
  Tensor whole = reshard_local(p.local, spmd::sizes_of(t.shape()), t.dtype(), *p.attr, to);
  check(
      whole.defined(), ErrorKind::kRuntime,
      "[reshard] rank {} is outside the mesh {} and has no part of this tensor of shape {}; move it to a mesh of this "
      "rank with paddle.distributed.reshard",
      Environment::current().rank(), p.attr->mesh.to_string(), to_string(t.shape()));
  return whole;
}

Tensor reshard_to(const Tensor& t, std::string_view to) {
  if (to.empty()) return whole_value(t);
  std::string_view changes = to.starts_with('~') ? to.substr(1, to.find(':') - 1) : "";
  auto target = std::make_shared<spmd::DistAttr>(spmd::decode(changes.empty() ? to : to.substr(changes.size() + 2)));
  if (!changes.empty() && !t.is_dist() && changes.find('1') == changes.npos) return t;
  if (!changes.empty() && t.is_dist()) {
    const spmd::DistAttr& from = spmd::dist_attr(t);
    for (size_t a = 0; a < changes.size() && from.mesh.shape() == target->mesh.shape(); ++a)
      if (changes[a] == '0') target->placements[a] = from.placements[a];
    if (from == *target) return t;
  }
  return reshard_value(t, target);
}

Tensor local_part(const Tensor& t) {
  if (!t.defined() || !t.is_dist()) return t;
  const Tensor& local = spmd::dist_payload(t).local;
  return local.defined() ? local : Tensor::empty(paddle::Shape{Dim(0)}, t.dtype(), t.place());
}

void assign_value(const Tensor& target, const Tensor& value) {
  check(target.shape() == value.shape(), ErrorKind::kValue, "[set_value] expected a value of shape {}, got {}",
        to_string(target.shape()), to_string(value.shape()));
  const spmd::DistPayload& p = spmd::dist_payload(target);
  Tensor local = value.is_dist() ? reshard_local(spmd::dist_payload(value).local, spmd::sizes_of(value.shape()),
                                                 value.dtype(), spmd::dist_attr(value), *p.attr)
                                 : cut_whole(value, p.attr);
  if (dispatch::Trace* trace = dispatch::Trace::active())
    trace->write(p.local, local, true);
  else if (p.local.defined())
    dispatch::copy_into(p.local, local);
}

}  // namespace paddle::distributed
