#include "dispatch/check_numbers.h"

#include <cmath>
#include <complex>
#include <cstdio>

#include "base/flags.h"
#include "dispatch/eager.h"
#include "tensor/element.h"

namespace paddle::dispatch {

std::atomic<bool> check_nan_inf{false};

namespace {

std::atomic<int64_t> level{0};

[[maybe_unused]] const bool installed = [] {
  flags::on_change("check_nan_inf", [](const flags::Value& v) { check_nan_inf = std::get<bool>(v); });
  flags::on_change("check_nan_inf_level", [](const flags::Value& v) { level = std::get<int64_t>(v); });
  return true;
}();

struct Count {
  int64_t nan = 0, inf = 0, zero = 0;
  double least = INFINITY, most = -INFINITY;  // of the finite ones

  void see(double v) {
    nan += std::isnan(v);
    inf += std::isinf(v);
    zero += v == 0;
    if (!std::isfinite(v)) return;
    least = std::min(least, v);
    most = std::max(most, v);
  }
};

template <class T>
bool all_finite(const T* p, int64_t n) {
  // A NaN or an infinity times zero is NaN, which stays in the sum.
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += p[i] * T{0};
  return sum == 0;
}

template <class T>
Count counted(const Tensor& t) {
  Count c;
  const T* p = t.data<T>();
  for (int64_t i = 0, n = t.numel(); i < n; ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      c.see(p[i]);
    } else {
      c.see(p[i].real());
      c.see(p[i].imag());
    }
  }
  return c;
}

Count count(const Tensor& t) {
  switch (t.dtype()) {
    case DType::kFloat32:
      return counted<float>(t);
    case DType::kFloat64:
      return counted<double>(t);
    case DType::kComplex64:
      return counted<std::complex<float>>(t);
    case DType::kComplex128:
      return counted<std::complex<double>>(t);
    default: {
      Count c;
      for (int64_t i = 0, n = t.numel(); i < n; ++i) c.see(read_element(t, i).real());
      return c;
    }
  }
}

}  // namespace

void check_output(std::string_view op, std::string_view output, const Tensor& any, const std::string& where) {
  if (!any.defined() || !any.is_dense() || !is_inexact(any.dtype())) return;
  Tensor t = any;
  if (!t.place().is_cpu() || !t.is_contiguous()) {
    t = Tensor::empty(any.shape(), any.dtype(), Place::cpu());
    copy_into(t, any);
  }
  if (t.dtype() == DType::kFloat32 && all_finite(t.data<float>(), t.numel())) return;
  if (t.dtype() == DType::kFloat64 && all_finite(t.data<double>(), t.numel())) return;
  const Count c = count(t);
  if (c.nan == 0 && c.inf == 0) return;
  const std::string text = fmt::format(
      "[{}] output {} of shape {} and dtype {} holds {} NaN and {} infinite values among {}; the finite ones lie in "
      "[{}, {}] and {} are 0 (FLAGS_check_nan_inf){}",
      op, output, to_string(view(t.shape())), name_of(t.dtype()), c.nan, c.inf, t.numel(), c.least, c.most, c.zero,
      where);
  if (level.load(std::memory_order_relaxed) > 0) {
    std::fprintf(stderr, "%s\n", text.c_str());
    return;
  }
  throw_error(ErrorKind::kRuntime, text);
}

void check_outputs(const OpCall& any, const std::string& where) {
  OpCall& c = const_cast<OpCall&>(any);
  for (size_t i = 0; i < c.num_outs(); ++i) {
    check_output(c.op.name, c.op.outs[i].name, c.out(i), where);
    for (const Tensor& t : c.out_list(i)) check_output(c.op.name, c.op.outs[i].name, t, where);
  }
}

}  // namespace paddle::dispatch
