// How often numbers occur, and runs of equal elements.
#include <algorithm>
#include <limits>

#include "phi/kernels/cpu/dispatch_type.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/rules_manipulation.h"

namespace paddle::kernels {
namespace {

// The elements of an integer vector; none may be negative.
std::vector<int64_t> counted(const Tensor& x) {
  std::vector<int64_t> at(static_cast<size_t>(x.numel()));
  dispatch_real("bincount", x.dtype(), [&](auto t) {
    using T = decltype(t);
    if constexpr (std::is_integral_v<T>)
      for (size_t i = 0; i < at.size(); ++i) at[i] = static_cast<int64_t>(x.data<T>()[i]);
  });
  for (int64_t v : at)
    check(v >= 0 && v < std::numeric_limits<int64_t>::max(), ErrorKind::kValue,
          "[bincount] expected numbers of at least 0 that can be counted, got {}", v);
  return at;
}

void bincount(OpCall& c) {
  rules::bincount::Args a(c);
  const std::vector<int64_t> at = counted(dense(a.x));
  const int64_t least = a.minlength.to_int();
  check(least >= 0, ErrorKind::kValue, "[bincount] expected minlength of at least 0, got {}", least);
  const int64_t n = std::max(least, at.empty() ? 0 : *std::max_element(at.begin(), at.end()) + 1);
  Tensor out = Tensor::empty({n}, c.meta(0).dtype);
  zero(out);
  if (!a.weights.defined()) {
    for (int64_t v : at) ++out.data<int64_t>()[v];
  } else {
    Tensor weights = dense(a.weights);
    dispatch_real("bincount", out.dtype(), [&](auto t) {
      using T = decltype(t);
      dispatch_real("bincount", weights.dtype(), [&](auto w) {
        using W = decltype(w);
        std::vector<Accumulator<T>> sums(static_cast<size_t>(n));
        for (size_t i = 0; i < at.size(); ++i)
          sums[static_cast<size_t>(at[i])] += static_cast<Accumulator<T>>(to_compute(weights.data<W>()[i]));
        for (size_t i = 0; i < sums.size(); ++i) out.data<T>()[i] = from_compute<T>(sums[i]);
      });
    });
  }
  c.out(0) = out;
}

void unique_consecutive(OpCall& c) {
  rules::unique_consecutive::Args a(c);
  Tensor x = dense(a.x);
  const bool flat = a.axis.empty();
  const int64_t axis = flat ? 0 : (a.axis[0] < 0 ? a.axis[0] + x.rank() : a.axis[0]);
  const AroundAxis g = flat ? AroundAxis{1, x.numel(), 1} : around(x, axis);
  std::vector<int64_t> starts, index;
  auto scan = [&](auto&& same) {
    for (int64_t i = 0; i < g.axis; ++i) {
      if (i == 0 || !same(i)) starts.push_back(i);
      index.push_back(static_cast<int64_t>(starts.size()) - 1);
    }
  };
  dispatch_number("unique_consecutive", x.dtype(), [&](auto t) {
    using T = decltype(t);
    const T* p = x.data<T>();
    scan([&](int64_t i) {
      for (int64_t o = 0; o < g.outer; ++o)
        for (int64_t k = 0; k < g.inner; ++k)
          if (to_compute(p[(o * g.axis + i) * g.inner + k]) != to_compute(p[(o * g.axis + i - 1) * g.inner + k]))
            return false;
      return true;
    });
  });
  const auto m = static_cast<int64_t>(starts.size());
  Shape shape = flat ? Shape{Dim(m)} : x.shape();
  if (!flat) shape[static_cast<size_t>(axis)] = Dim(m);
  Tensor out = Tensor::empty(shape, x.dtype(), x.place());
  const auto bytes = static_cast<int64_t>(size_of(x.dtype())) * g.inner;
  const auto* from = static_cast<const char*>(x.data());
  auto* to = static_cast<char*>(out.data());
  for (int64_t o = 0; o < g.outer; ++o)
    for (int64_t i = 0; i < m; ++i)
      std::copy_n(from + (o * g.axis + starts[static_cast<size_t>(i)]) * bytes, bytes, to + (o * m + i) * bytes);
  std::vector<int64_t> counts;
  for (size_t i = 0; i < starts.size(); ++i)
    counts.push_back((i + 1 < starts.size() ? starts[i + 1] : g.axis) - starts[i]);
  auto numbers = [&](const std::vector<int64_t>& v) {
    Tensor n = Tensor::empty({static_cast<int64_t>(v.size())}, a.dtype);
    dispatch_index("unique_consecutive", a.dtype, [&](auto t) {
      using T = decltype(t);
      std::transform(v.begin(), v.end(), n.data<T>(), [](int64_t e) { return static_cast<T>(e); });
    });
    return n;
  };
  c.out(0) = out;
  c.out(1) = numbers(index);
  c.out(2) = numbers(counts);
}

const RegisterCpu registered[] = {{"bincount", bincount}, {"unique_consecutive", unique_consecutive}};

}  // namespace
}  // namespace paddle::kernels
