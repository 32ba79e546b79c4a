// Reductions on the CPU: the record's combiner (after its expression, if it has one), run by the tile reducer.
#include "phi/kernels/cpu/axes.h"
#include "phi/kernels/cpu/generic.h"
#include "phi/kernels/cpu/operand.h"
#include "phi/kernels/cpu/tile/reduce.h"
#include "phi/kernels/registry.h"

namespace paddle::kernels {
namespace {

tile::Combine combiner(Combine c) {
  switch (c) {
    case Combine::kProd:
      return tile::Combine::kProd;
    case Combine::kMax:
      return tile::Combine::kMax;
    case Combine::kMin:
      return tile::Combine::kMin;
    case Combine::kAny:
      return tile::Combine::kAny;
    case Combine::kAll:
      return tile::Combine::kAll;
    default:
      return tile::Combine::kSum;
  }
}

}  // namespace

void cpu_reduction(OpCall& c) {
  const Tensor& x = c.tensor(0);
  const Tensor& out = c.out(0);
  uint64_t axes = reduced_axes(c, x.rank());
  Operand in;
  tile::TileOperand source = in.broadcast(x, x.shape());
  // Strides of the result per axis of the input; reduced ones are not read.
  Strides strides(x.shape().size(), 0);
  bool kept_dims = out.rank() == x.rank();
  for (size_t d = 0, k = 0; d < strides.size(); ++d) {
    bool reduced = axes >> d & 1;
    if (!reduced) strides[d] = out.strides()[kept_dims ? d : k];
    k += !reduced;
  }
  tile::TileOperand target{out.data(), out.dtype(), strides.data()};
  tile::Compute compute = tile::compute_type({x.dtype(), out.dtype() == DType::kBool ? x.dtype() : out.dtype()});
  tile::run_reduce(combiner(c.op.combine), c.op.expr, {&source, 1}, {}, target, static_sizes(x.shape()), axes, compute);
}

uint64_t reduced_axes(const OpCall& c, int64_t rank) {
  uint64_t all = rank == 0 ? 0 : (rank >= 64 ? ~uint64_t{0} : (uint64_t{1} << rank) - 1);
  uint64_t mask = 0;
  bool any = false;
  auto add = [&](int64_t axis) {
    any = true;
    if (rank > 0) mask |= uint64_t{1} << (axis < 0 ? axis + rank : axis);
  };
  // With reduce_all the axes are not looked at: they may be anything.
  for (size_t i = 0; i < c.args.size(); ++i)
    if (c.op.args[i].name == "reduce_all" && !c.args[i].none() && c.args[i].b()) return all;
  for (size_t i = 0; i < c.args.size(); ++i) {
    const Arg& a = c.args[i];
    if (c.op.args[i].name != "axis" || a.none()) continue;
    if (a.tag() == Arg::Tag::kInts) {
      for (Dim d : a.ints().values()) add(d.value());
    } else if (a.tag() == Arg::Tag::kIntList) {
      for (int64_t d : a.int_list()) add(d);
    } else if (a.tag() == Arg::Tag::kScalar) {
      add(a.scalar().to_int());
    } else if (a.tag() == Arg::Tag::kInt) {
      add(a.i());
    }
  }
  return any ? mask : all;
}

}  // namespace paddle::kernels
