// Rules of ops/collective.yaml, in the order of the records.
#include "api/ops.h"
#include "phi/rules/infer.h"
#include "phi/rules_collective.h"
#include "spmd/attr_text.h"
#include "spmd/dist_payload.h"
#include "spmd/local_shape.h"
#include "spmd/reshard_plan.h"

namespace paddle::rules {
namespace {

constexpr int64_t kSum = 0;
constexpr char kOriginName = '@';

void only_sums(std::string_view op, int64_t reduce_type) {
  check(reduce_type == kSum, ErrorKind::kNotImplemented, "[{}] has a gradient only for sums", op);
}

// The part of an axis that one rank has. Equal parts need no rank.
Dim part(std::string_view op, Dim size, int64_t ranks, int64_t rank) {
  check(ranks >= 1 && ranks <= INT32_MAX && rank < ranks, ErrorKind::kValue,
        "[{}] expected a rank below their number, got {} of {}", op, rank, ranks);
  if (size.is_const() && size.value() % ranks != 0) {
    check(rank >= 0, ErrorKind::kValue, "[{}] expected a size that {} ranks share equally, got {}", op, ranks,
          size.value());
    return spmd::shard_range(size.value(), ranks, rank).size;
  }
  return floor_div(size, ranks);
}

// Where a gradient goes. In a program that is captured nothing lies anywhere yet: partitioning finds out by the name
// that the origin then is.
std::string of_gradient(std::string_view origin, const Tensor& grad) {
  if (origin.starts_with(kOriginName)) return grad.is_traced() ? std::string(origin) : "";
  if (origin.empty()) return "";
  return spmd::encode(spmd::gradient_attr(spmd::decode(origin), grad.is_dist() ? &spmd::dist_attr(grad) : nullptr));
}

std::string lies(const Tensor& t) { return t.is_dist() ? spmd::encode(spmd::dist_attr(t)) : ""; }

Shape dims(std::string_view op, std::span<const int64_t> sizes) {
  for (int64_t n : sizes)
    check(infer::extent_of(op, "sizes", n) >= 0, ErrorKind::kValue, "[{}] expected sizes >= 0, got {}", op, n);
  return {sizes.begin(), sizes.end()};
}

// The size of an axis that `ranks` parts make; `size` says it where they differ.
Dim gathered(std::string_view op, Dim part, int64_t ranks, int64_t size) {
  check(ranks >= 1 && ranks <= INT32_MAX, ErrorKind::kValue, "[{}] expected at least one rank, got {}", op, ranks);
  return size >= 0 ? Dim(infer::extent_of(op, "size", size)) : part * Dim(ranks);
}

}  // namespace

void all_reduce::vjp(Vjp& v) {
  only_sums("all_reduce", v.reduce_type);
  if (v.need_x) v.x_grad = ops::all_reduce(v.out_grad, v.ring_id, v.reduce_type);
}

void all_gather::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("all_gather", "x", a.x, 1, 64);
  int64_t axis = infer::axis_of("all_gather", a.axis, a.x.rank());
  out.shape = a.x.shape();
  Dim& n = out.shape[static_cast<size_t>(axis)];
  n = gathered("all_gather", n, a.nranks, a.size);
}

void all_gather::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::reduce_scatter(v.out_grad, v.ring_id, v.nranks, kSum, v.axis, v.rank);
}

void reduce_scatter::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("reduce_scatter", "x", a.x, 1, 64);
  int64_t axis = infer::axis_of("reduce_scatter", a.axis, a.x.rank());
  out.shape = a.x.shape();
  Dim& n = out.shape[static_cast<size_t>(axis)];
  n = part("reduce_scatter", n, a.nranks, a.rank);
}

void reduce_scatter::vjp(Vjp& v) {
  only_sums("reduce_scatter", v.reduce_type);
  if (v.need_x)
    v.x_grad =
        ops::all_gather(v.out_grad, v.ring_id, v.nranks, v.axis, v.x.shape[static_cast<size_t>(v.axis)].hint(), v.rank);
}

void all_to_all::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("all_to_all", "x", a.x, 1, 64);
  int64_t split = infer::axis_of("all_to_all", a.split_axis, a.x.rank(), "split_axis");
  int64_t joined = infer::axis_of("all_to_all", a.concat_axis, a.x.rank(), "concat_axis");
  out.shape = a.x.shape();
  Dim& cut = out.shape[static_cast<size_t>(split)];
  cut = part("all_to_all", cut, a.nranks, a.rank);
  Dim& n = out.shape[static_cast<size_t>(joined)];
  n = gathered("all_to_all", n, a.nranks, a.size);
}

void all_to_all::vjp(Vjp& v) {
  if (!v.need_x) return;
  int64_t whole = v.x.shape[static_cast<size_t>(v.split_axis)].hint();
  v.x_grad = ops::all_to_all(v.out_grad, v.ring_id, v.nranks, v.concat_axis, v.split_axis,
                             v.split_axis == v.concat_axis ? -1 : whole, v.rank);
}

void recv_v2::shape(const Args& a, TensorMeta& out) { out.shape = dims("recv_v2", a.out_shape); }

void reshard::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::reshard(v.out_grad, of_gradient(v.origin, v.out_grad), lies(v.out_grad));
}

void dtensor_from_local::shape(const Args& a, TensorMeta& out) { out.shape = dims("dtensor_from_local", a.shape); }

void dtensor_from_local::vjp(Vjp& v) {
  if (!v.need_x) return;
  // Every rank's value counts on its own: along a replicated axis each gets the gradient of the whole.
  spmd::DistAttr to = spmd::decode(v.to);
  for (spmd::Placement& p : to.placements)
    if (p.is_partial()) p = spmd::Replicate();
  std::string text = spmd::encode(to);
  spmd::Shape local = spmd::sizes_of(v.x.shape);
  v.x_grad = ops::dtensor_to_local(ops::reshard(v.out_grad, text, lies(v.out_grad)), text, local);
}

void dtensor_to_local::shape(const Args& a, TensorMeta& out) { out.shape = dims("dtensor_to_local", a.shape); }

void dtensor_to_local::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::dtensor_from_local(v.out_grad, v.origin, spmd::sizes_of(v.x.shape));
}

}  // namespace paddle::rules
