// Pointwise operators on the CPU: the record's expression, run by the tile interpreter.
#include <algorithm>
#include <functional>

#include "phi/kernels/cpu/generic.h"
#include "phi/kernels/cpu/operand.h"
#include "phi/kernels/registry.h"

namespace paddle::kernels {
namespace {

tile::ScalarParam param_of(const Arg& a) {
  switch (a.tag()) {
    case Arg::Tag::kScalar: {
      const Scalar& s = a.scalar();
      if (s.kind() == Scalar::Kind::kComplex) return s.to_complex();
      if (s.kind() == Scalar::Kind::kFloat) return s.to_double();
      return s.to_int();
    }
    case Arg::Tag::kInt:
      return a.i();
    case Arg::Tag::kBool:
      return a.b();
    default:
      return a.d();
  }
}

// What to compute in. Inputs decide, unless their results are of a wider kind: the square root of an integer, a complex
// number of two real ones.
tile::Compute compute_of(std::span<const DType> ins, std::span<const DType> outs) {
  auto any = [](std::span<const DType> types, auto is) { return std::any_of(types.begin(), types.end(), is); };
  auto inexact = [](DType t) { return is_inexact(t); };
  auto complex = [](DType t) { return is_complex(t); };
  const bool wider = (any(outs, inexact) && !any(ins, inexact)) || (any(outs, complex) && !any(ins, complex));
  return ins.empty() || wider ? tile::compute_type(outs) : tile::compute_type(ins);
}

// kMax: room for operands and parameters; setting up unused ones costs more than a small call computes.
template <size_t kMax>
void pointwise_with(OpCall& c) {
  const scalar::Program& program = *c.op.expr;
  PD_INVARIANT(program.num_inputs <= kMax && program.num_params <= kMax && c.num_outs() <= kMax);
  const Shape& shape = c.out(0).shape();
  Sizes sizes = static_sizes(shape);
  Operand ins[kMax], outs[kMax];
  tile::TileOperand in_tiles[kMax], out_tiles[kMax];
  DType in_types[kMax], out_types[kMax];
  for (size_t i = 0; i < program.num_inputs; ++i) {
    const Tensor& t = c.args[c.op.expr_args[i]].tensor();
    in_tiles[i] = ins[i].broadcast(t, shape);
    in_types[i] = t.dtype();
  }
  size_t n = program.outputs.size();
  for (size_t i = 0; i < n; ++i) {
    out_tiles[i] = outs[i].broadcast(c.out(i), shape);
    out_types[i] = c.out(i).dtype();
  }
  tile::ScalarParam params[kMax];
  for (size_t i = 0; i < program.num_params; ++i) params[i] = param_of(c.args[c.op.expr_args[program.num_inputs + i]]);
  tile::run_pointwise(program, {in_tiles, program.num_inputs}, {params, program.num_params}, {out_tiles, n}, sizes,
                      compute_of({in_types, program.num_inputs}, {out_types, n}));
}

void pointwise(OpCall& c) {
  const scalar::Program& program = *c.op.expr;
  if (program.num_inputs <= 3 && program.num_params <= 3 && c.num_outs() <= 3)
    pointwise_with<3>(c);
  else
    pointwise_with<12>(c);
}

// The commonest small calls without any set-up: dense f32 of one shape. Larger or other ones go to the interpreter,
// whose loops are vectorised for the processor.
constexpr int64_t kSmall = 512;

bool small_f32(const Tensor& t, const Tensor& like) {
  return t.dtype() == DType::kFloat32 && t.shape() == like.shape() && t.is_contiguous();
}

template <class F>
void small_binary(OpCall& c) {
  const Tensor &x = c.tensor(0), &y = c.tensor(1), &out = c.out(0);
  int64_t n = out.numel();
  if (n > kSmall || !small_f32(out, out) || !small_f32(x, out) || !small_f32(y, out)) return pointwise(c);
  const float *a = x.data<float>(), *b = y.data<float>();
  float* to = out.data<float>();
  for (int64_t i = 0; i < n; ++i) to[i] = F{}(a[i], b[i]);
}

void scale(OpCall& c) {
  const Tensor &x = c.tensor(0), &out = c.out(0);
  int64_t n = out.numel();
  const Scalar &factor = c.args[1].scalar(), &term = c.args[2].scalar();
  auto real = [](const Scalar& s) { return s.kind() == Scalar::Kind::kFloat || s.kind() == Scalar::Kind::kInt; };
  if (n > kSmall || !small_f32(out, out) || !small_f32(x, out) || !real(factor) || !real(term)) return pointwise(c);
  const float f = static_cast<float>(factor.to_double()), t = static_cast<float>(term.to_double());
  const float b = c.args[3].b() ? t : t * f;
  const float* a = x.data<float>();
  float* to = out.data<float>();
  for (int64_t i = 0; i < n; ++i) to[i] = a[i] * f + b;
}

void cast(OpCall& c) { convert_elements(c.out(0), c.tensor(0)); }

}  // namespace

void cpu_pointwise(OpCall& c) { pointwise(c); }

static const RegisterCpu registered[] = {{"cast", cast},
                                         {"scale", scale},
                                         {"add", small_binary<std::plus<float>>},
                                         {"subtract", small_binary<std::minus<float>>},
                                         {"multiply", small_binary<std::multiplies<float>>},
                                         {"divide", small_binary<std::divides<float>>}};

}  // namespace paddle::kernels
