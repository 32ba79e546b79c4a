// Tensors made from numbers.
#include "phi/kernels/cpu/operand.h"
#include "phi/kernels/registry.h"
#include "phi/rules_manipulation.h"
#include "tensor/element.h"

namespace paddle::kernels {
namespace {

tile::ScalarParam param_of(const Scalar& s) {
  if (s.kind() == Scalar::Kind::kComplex) return s.to_complex();
  if (s.kind() == Scalar::Kind::kFloat) return s.to_double();
  return s.to_int();
}

void fill_with(const Tensor& out, const Scalar& value) {
  Operand o;
  Sizes sizes = static_sizes(out.shape());
  tile::run_fill(o.broadcast(out, out.shape()), param_of(value), sizes);
}

void full(OpCall& c) {
  rules::full::Args a(c);
  fill_with(c.out(0), a.value);
}

void full_int_array(OpCall& c) {
  rules::full_int_array::Args a(c);
  const Tensor& out = c.out(0);
  for (size_t i = 0; i < a.value.size(); ++i)
    write_int(out.data<char>() + i * size_of(out.dtype()), out.dtype(), a.value[i]);
}

void assign_value(OpCall& c) {
  rules::assign_value::Args a(c);
  const Tensor& out = c.out(0);
  for (size_t i = 0; i < a.values.size(); ++i) {
    char* p = out.data<char>() + i * size_of(out.dtype());
    if (is_integer(out.dtype()) && a.values[i].kind() <= Scalar::Kind::kInt)
      write_int(p, out.dtype(), a.values[i].to_int());
    else
      write_element(p, out.dtype(), a.values[i].to_complex());
  }
}

void empty(OpCall&) {}

// Element i from its index: integers exactly, floats in f64.
template <class F>
void generate(const Tensor& out, F&& value) {
  char* p = out.data<char>();
  size_t item = size_of(out.dtype());
  for (int64_t i = 0, n = out.numel(); i < n; ++i) value(p + static_cast<size_t>(i) * item, i);
}

void arange(OpCall& c) {
  rules::arange::Args a(c);
  const Tensor& out = c.out(0);
  if (is_integer(out.dtype())) {
    int64_t start = a.start.to_int(), step = a.step.to_int();
    generate(out, [&](void* p, int64_t i) { write_int(p, out.dtype(), start + i * step); });
  } else {
    double start = a.start.to_double(), step = a.step.to_double();
    generate(out, [&](void* p, int64_t i) { write_element(p, out.dtype(), start + static_cast<double>(i) * step); });
  }
}

// From both ends towards the middle, so that both ends are exact.
void linspace(OpCall& c) {
  rules::linspace::Args a(c);
  const Tensor& out = c.out(0);
  double start = a.start.to_double(), stop = a.stop.to_double();
  int64_t n = out.numel();
  double step = n > 1 ? (stop - start) / static_cast<double>(n - 1) : 0;
  generate(out, [&](void* p, int64_t i) {
    double v =
        i < n / 2 || n == 1 ? start + step * static_cast<double>(i) : stop - step * static_cast<double>(n - 1 - i);
    if (is_integer(out.dtype()))
      write_int(p, out.dtype(), static_cast<int64_t>(v));
    else
      write_element(p, out.dtype(), v);
  });
}

void eye(OpCall& c) {
  const Tensor& out = c.out(0);
  fill_with(out, Scalar(int64_t{0}));
  int64_t n = std::min(out.size(0), out.size(1));
  for (int64_t i = 0; i < n; ++i)
    write_element(out.data<char>() + static_cast<size_t>(i * (out.size(1) + 1)) * size_of(out.dtype()), out.dtype(),
                  1.0);
}

void shape_of(OpCall& c) {
  const Tensor& x = c.tensor(0);
  const Tensor& out = c.out(0);
  for (int64_t i = 0; i < x.rank(); ++i)
    write_int(out.data<char>() + static_cast<size_t>(i) * size_of(out.dtype()), out.dtype(), x.size(i));
}

void numel_of(OpCall& c) { write_int(c.out(0).data(), c.out(0).dtype(), c.tensor(0).numel()); }

const RegisterCpu registered[] = {{"full", full},
                                  {"full_int_array", full_int_array},
                                  {"assign_value", assign_value},
                                  {"empty", empty},
                                  {"arange", arange},
                                  {"linspace", linspace},
                                  {"eye", eye},
                                  {"shape", shape_of},
                                  {"shape64", shape_of},
                                  {"numel", numel_of}};

}  // namespace
}  // namespace paddle::kernels
