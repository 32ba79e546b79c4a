#include "distributed/collectives.h"

#include "dispatch/eager.h"
#include "distributed/environment.h"
#include "spmd/local_shape.h"

namespace paddle::distributed {
namespace {

Tensor like(const Tensor& x, int axis, int64_t size) {
  Shape shape = x.shape();
  if (axis >= 0) shape[static_cast<size_t>(axis)] = Dim(size);
  return Tensor::empty(shape, x.dtype(), x.place());
}

Tensor narrow(const Tensor& x, int axis, int64_t begin, int64_t size) {
  Shape shape = x.shape();
  shape[static_cast<size_t>(axis)] = Dim(size);
  return x.as_view(shape, x.strides(), x->offset + begin * x.strides()[static_cast<size_t>(axis)]);
}

// Whether parts along this axis lie one after the other in memory.
bool outermost(const Tensor& x, int axis) {
  for (int d = 0; d < axis; ++d)
    if (x.size(d) != 1) return false;
  return true;
}

int64_t elements_without(const Tensor& x, int axis) {
  int64_t n = 1;
  for (int d = 0; d < x.rank(); ++d)
    if (d != axis) n *= x.size(d);
  return n;
}

// A stretch of a flat buffer as a contiguous tensor.
Tensor stretch(const Tensor& flat, int64_t begin, std::span<const Dim> shape) {
  return flat.as_view(shape, contiguous_strides(shape), flat->offset + begin);
}

Tensor flat_buffer(int64_t n, const Tensor& like) { return Tensor::empty(Shape{Dim(n)}, like.dtype(), like.place()); }

std::vector<int64_t> times(std::vector<int64_t> sizes, int64_t factor) {
  for (int64_t& s : sizes) s *= factor;
  return sizes;
}

Shape with(const Tensor& x, int axis, int64_t size) {
  Shape shape = x.shape();
  shape[static_cast<size_t>(axis)] = Dim(size);
  return shape;
}

// All parts along an axis, packed one after the other.
Tensor pack(const Tensor& x, int axis, const std::vector<int64_t>& sizes) {
  if (outermost(x, axis)) return contiguous(x);
  Tensor flat = flat_buffer(x.numel(), x);
  int64_t at = 0, rest = elements_without(x, axis), begin = 0;
  for (int64_t s : sizes) {
    if (s) dispatch::copy_into(stretch(flat, at, with(x, axis, s)), narrow(x, axis, begin, s));
    at += s * rest;
    begin += s;
  }
  return flat;
}

void unpack(const Tensor& flat, const Tensor& out, int axis, const std::vector<int64_t>& sizes) {
  int64_t at = 0, rest = elements_without(out, axis), begin = 0;
  for (int64_t s : sizes) {
    if (s) dispatch::copy_into(narrow(out, axis, begin, s), stretch(flat, at, with(out, axis, s)));
    at += s * rest;
    begin += s;
  }
}

}  // namespace

comm::ReduceOp reduce_op(spmd::PartialKind kind) {
  switch (kind) {
    case spmd::PartialKind::kSum:
      return comm::ReduceOp::kSum;
    case spmd::PartialKind::kAvg:
      return comm::ReduceOp::kAvg;
    case spmd::PartialKind::kMax:
    case spmd::PartialKind::kAny:
      return comm::ReduceOp::kMax;
    case spmd::PartialKind::kMin:
    case spmd::PartialKind::kAll:
      return comm::ReduceOp::kMin;
    case spmd::PartialKind::kProd:
      return comm::ReduceOp::kProd;
  }
  return comm::ReduceOp::kSum;
}

Tensor copy_of(const Tensor& x) {
  Tensor out = Tensor::empty(x.shape(), x.dtype(), x.place());
  dispatch::copy_into(out, x);
  return out;
}

Tensor contiguous(const Tensor& x) { return x.is_contiguous() ? x : copy_of(x); }

Tensor part_of(const Tensor& x, int axis, int64_t parts, int64_t index) {
  spmd::Range r = spmd::shard_range(x.size(axis), parts, index);
  return narrow(x, axis, r.offset, r.size);
}

Tensor all_gather(const Tensor& x, comm::ProcessGroup& group, int axis, int64_t size) {
  std::vector<int64_t> sizes = spmd::shard_sizes(size, group.size());
  check(x.size(axis) == sizes[static_cast<size_t>(group.rank())], ErrorKind::kValue,
        "[all_gather] expected {} elements along axis {} on rank {}, got {}", sizes[static_cast<size_t>(group.rank())],
        axis, group.rank(), x.size(axis));
  Tensor out = like(x, axis, size), in = contiguous(x);
  Tensor target = outermost(out, axis) ? out : flat_buffer(out.numel(), x);
  {
    Waiting waiting;
    group.all_gather(in.data(), target.data(), times(sizes, elements_without(x, axis)), x.dtype());
  }
  if (!target.same(out)) unpack(target, out, axis, sizes);
  return out;
}

Tensor all_reduce(const Tensor& x, comm::ProcessGroup& group, comm::ReduceOp op) {
  Tensor in = contiguous(x), out = Tensor::empty(x.shape(), x.dtype(), x.place());
  Waiting waiting;
  group.all_reduce(in.data(), out.data(), x.numel(), x.dtype(), op);
  return out;
}

Tensor reduce_scatter(const Tensor& x, comm::ProcessGroup& group, comm::ReduceOp op, int axis) {
  std::vector<int64_t> sizes = spmd::shard_sizes(x.size(axis), group.size());
  Tensor in = pack(x, axis, sizes), out = like(x, axis, sizes[static_cast<size_t>(group.rank())]);
  Waiting waiting;
  group.reduce_scatter(in.data(), out.data(), times(sizes, elements_without(x, axis)), x.dtype(), op);
  return out;
}

Tensor all_to_all(const Tensor& x, comm::ProcessGroup& group, int split_axis, int concat_axis, int64_t size) {
  std::vector<int64_t> split = spmd::shard_sizes(x.size(split_axis), group.size());
  std::vector<int64_t> joined = spmd::shard_sizes(size, group.size());
  size_t me = static_cast<size_t>(group.rank());
  Shape shape = with(x, split_axis, split[me]);
  shape[static_cast<size_t>(concat_axis)] = Dim(size);
  Tensor in = pack(x, split_axis, split), out = Tensor::empty(shape, x.dtype(), x.place());
  Tensor target = outermost(out, concat_axis) ? out : flat_buffer(out.numel(), x);
  {
    Waiting waiting;
    group.all_to_all(in.data(), target.data(), times(split, elements_without(x, split_axis)),
                     times(joined, elements_without(out, concat_axis)), x.dtype());
  }
  if (!target.same(out)) unpack(target, out, concat_axis, joined);
  return out;
}

}  // namespace paddle::distributed
