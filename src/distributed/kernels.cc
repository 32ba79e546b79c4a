// Kernels of ops/collective.yaml on the CPU.
#include "dispatch/eager.h"
#include "distributed/collectives.h"
#include "distributed/environment.h"
#include "distributed/reshard.h"
#include "phi/kernels/registry.h"
#include "phi/rules_collective.h"
#include "spmd/attr_text.h"

namespace paddle::distributed {
namespace {

comm::ProcessGroup& group(int64_t ring) { return Environment::current().group(static_cast<int>(ring)); }

comm::ReduceOp reduce_kind(std::string_view op, int64_t type) {
  check(type >= 0 && type <= 4, ErrorKind::kValue, "[{}] expected reduce_type in [0, 4], got {}", op, type);
  return static_cast<comm::ReduceOp>(type);
}

int64_t axis_of(const Tensor& x, int64_t axis) { return axis < 0 ? axis + x.rank() : axis; }

// The result goes where the output is, if it is there (an in-place form, a planned buffer).
void give(OpCall& c, const Tensor& result) {
  if (c.out(0).defined())
    dispatch::copy_into(c.out(0), result);
  else
    c.out(0) = result;
}

void all_reduce(OpCall& c) {
  rules::all_reduce::Args a(c);
  comm::ReduceOp op = reduce_kind("all_reduce", a.reduce_type);
  const Tensor& out = c.out(0);
  if (!out.is_contiguous()) return give(c, distributed::all_reduce(a.x, group(a.ring_id), op));
  Tensor in = contiguous(a.x);
  Waiting waiting;
  group(a.ring_id).all_reduce(in.data(), out.data(), in.numel(), in.dtype(), op);
}

void all_gather(OpCall& c) {
  rules::all_gather::Args a(c);
  int axis = static_cast<int>(axis_of(a.x, a.axis));
  give(c, distributed::all_gather(a.x, group(a.ring_id), axis, c.out(0).size(axis)));
}

void reduce_scatter(OpCall& c) {
  rules::reduce_scatter::Args a(c);
  give(c, distributed::reduce_scatter(a.x, group(a.ring_id), reduce_kind("reduce_scatter", a.reduce_type),
                                      static_cast<int>(axis_of(a.x, a.axis))));
}

void all_to_all(OpCall& c) {
  rules::all_to_all::Args a(c);
  comm::ProcessGroup& g = group(a.ring_id);
  int split = static_cast<int>(axis_of(a.x, a.split_axis)), joined = static_cast<int>(axis_of(a.x, a.concat_axis));
  if (split == joined) {  // official's form: equal parts change places
    Tensor in = contiguous(a.x), out = Tensor::empty(a.x.shape(), a.x.dtype(), a.x.place());
    check(in.size(split) % g.size() == 0 && split == 0, ErrorKind::kValue,
          "[all_to_all] expected a size of axis 0 that {} ranks share equally, got {}", g.size(), in.size(split));
    {
      Waiting waiting;
      g.all_to_all(in.data(), out.data(), in.numel() / g.size(), in.dtype());
    }
    return give(c, out);
  }
  give(c, distributed::all_to_all(a.x, g, split, joined, c.out(0).size(joined)));
}

void broadcast(OpCall& c) {
  rules::broadcast::Args a(c);
  Tensor buffer = copy_of(a.x);
  {
    Waiting waiting;
    group(a.ring_id).broadcast(buffer.data(), buffer.numel(), buffer.dtype(), static_cast<int>(a.root));
  }
  give(c, buffer);
}

void reduce(OpCall& c) {
  rules::reduce::Args a(c);
  Tensor in = contiguous(a.x), out = copy_of(a.x);
  comm::ProcessGroup& g = group(a.ring_id);
  {
    Waiting waiting;
    g.reduce(in.data(), out.data(), in.numel(), in.dtype(), reduce_kind("reduce", a.reduce_type),
             static_cast<int>(a.root_id));
  }
  give(c, g.rank() == a.root_id ? out : in);
}

void send(OpCall& c) {
  rules::send_v2::Args a(c);
  Environment& env = Environment::current();
  if (env.sends_ahead()) {
    auto copy = std::make_shared<Tensor>(copy_of(a.x));  // what x lies in may be needed for other things
    env.keep_sending(
        group(a.ring_id).send(copy->data(), copy->numel(), copy->dtype(), static_cast<int>(a.peer), comm::Async::kYes),
        copy);
    return give(c, a.x);
  }
  Tensor in = contiguous(a.x);
  {
    Waiting waiting;
    group(a.ring_id).send(in.data(), in.numel(), in.dtype(), static_cast<int>(a.peer));
  }
  give(c, in);
}

void recv(OpCall& c) {
  rules::recv_v2::Args a(c);
  Tensor out = c.out(0).is_contiguous() ? c.out(0) : copy_of(c.out(0));
  {
    Waiting waiting;
    group(a.ring_id).recv(out.data(), out.numel(), out.dtype(), static_cast<int>(a.peer));
  }
  if (!out.same(c.out(0))) give(c, out);
}

// Views of the core own no history: the same part in a tensor of its own.
Tensor alias(const Tensor& t) {
  Tensor a(TensorImpl::make());
  a.become(t);
  a->grad_fn = nullptr;
  a.set_stop_gradient(true);
  return a;
}

void reshard(OpCall& c) {
  rules::reshard::Args a(c);
  Tensor there = reshard_to(a.x, a.to);
  c.out(0) = there.is_dist() && !there.same(a.x) ? there : alias(there);
}

void from_local(OpCall& c) {
  rules::dtensor_from_local::Args a(c);
  auto attr = std::make_shared<spmd::DistAttr>(spmd::decode(a.to));
  spmd::Shape shape(a.shape.begin(), a.shape.end());
  auto at = attr->mesh.coordinate_of(Environment::current().rank());
  if (at) {
    spmd::Shape expected = spmd::local_shard(shape, attr->mesh, attr->placements, *at).shape;
    check(expected == spmd::sizes_of(a.x.shape()), ErrorKind::kValue,
          "[dtensor_from_local] expected a part of shape {} of the whole {} under {}, got {}",
          to_string(paddle::Shape(expected.begin(), expected.end())),
          to_string(paddle::Shape(shape.begin(), shape.end())), spmd::to_string(attr->placements),
          to_string(a.x.shape()));
  }
  c.out(0) = spmd::make_dist(paddle::Shape(shape.begin(), shape.end()), a.x.dtype(), a.x.place(), attr,
                             at ? alias(a.x) : Tensor());
}

void to_local(OpCall& c) {
  rules::dtensor_to_local::Args a(c);
  check(a.x.is_dist(), ErrorKind::kValue, "[dtensor_to_local] expected a distributed tensor");
  const Tensor& local = spmd::dist_payload(a.x).local;
  check(local.defined(), ErrorKind::kRuntime, "[dtensor_to_local] rank {} has no part of this tensor",
        Environment::current().rank());
  c.out(0) = alias(local);
}

const kernels::RegisterCpu registered[] = {{"all_reduce", all_reduce},
                                           {"all_gather", all_gather},
                                           {"reduce_scatter", reduce_scatter},
                                           {"all_to_all", all_to_all},
                                           {"broadcast", broadcast},
                                           {"reduce", reduce},
                                           {"send_v2", send},
                                           {"recv_v2", recv},
                                           {"reshard", reshard},
                                           {"dtensor_from_local", from_local},
                                           {"dtensor_to_local", to_local}};

}  // namespace
}  // namespace paddle::distributed
