// Random numbers that take a number of attempts which isn't known ahead. Attempt k of element i is its own counter, so
// elements stay independent of each other and of the order of computation.
#include <algorithm>
#include <cmath>

#include "api/shard.h"
#include "base/parallel_for.h"
#include "phi/kernels/cpu/dispatch_type.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/kernels/cpu/random.h"
#include "phi/rules_random.h"

namespace paddle::kernels {
namespace {

// One stream of numbers for element i.
class Attempts {
 public:
  Attempts(RandomKey key, uint64_t i) : key_(key), i_(i) {}
  double uniform() { return 1 - uniform64_at(key_, next()); }  // in (0, 1]
  double normal() { return normal_at(key_, next()); }

 private:
  uint64_t next() { return i_ + (count_++ << 40); }  // tensors have fewer than 2^40 elements
  RandomKey key_;
  uint64_t i_, count_ = 0;
};

// Marsaglia & Tsang, "A simple method for generating gamma variables" (2000).
double gamma_at(Attempts& draw, double shape) {
  if (!(shape > 0)) return std::nan("");
  if (std::isinf(shape)) return shape;  // no draw would be accepted
  double boost = 1;
  if (shape < 1) {
    boost = std::pow(draw.uniform(), 1 / shape);
    shape += 1;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = draw.normal(), t = 1 + c * x;
    if (t <= 0) continue;
    const double v = t * t * t, u = draw.uniform();
    if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return boost * d * v;
  }
}

// p <= 1/2. Few expected successes: inversion. Else Hormann, "The generation of binomial random variates" (1993), BTRS.
double binomial_half(Attempts& draw, double n, double p) {
  if (n * p < 10) {
    const double ratio = p / (1 - p);
    double u = draw.uniform(), k = 0, mass = std::exp(n * std::log1p(-p));
    // What rounding leaves of u may be more than all that follows, of n as large as 2^53.
    for (const double most = std::min(n, 10 * n * p + 100); u > mass && k < most; ++k) {
      u -= mass;
      mass *= ratio * (n - k) / (k + 1);
    }
    return k;
  }
  const double deviation = std::sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double c = n * p + 0.5, quick = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * deviation,
               mode = std::floor((n + 1) * p);
  for (;;) {
    const double u = draw.uniform() - 0.5;
    double v = draw.uniform();
    const double us = 0.5 - std::abs(u), k = std::floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= quick) return k;
    if (k < 0 || k > n) continue;
    v = std::log(v * alpha / (a / (us * us) + b));
    const double bound = std::lgamma(mode + 1) + std::lgamma(n - mode + 1) - std::lgamma(k + 1) -
                         std::lgamma(n - k + 1) + (k - mode) * std::log(p / (1 - p));
    if (v <= bound) return k;
  }
}

double binomial_at(Attempts& draw, double n, double p) {
  if (!(n > 0) || !(p > 0)) return 0;
  n = std::min(n, 0x1p53);  // beyond, counts aren't whole numbers of float64; infinity would never be accepted
  if (p >= 1) return n;
  return p <= 0.5 ? binomial_half(draw, n, p) : n - binomial_half(draw, n, 1 - p);
}

void standard_gamma(OpCall& c) {
  Tensor x = dense(c.tensor(0));
  const Tensor& out = c.out(0);
  const RandomKey key = c.key;
  LogicalIndex logical(x.shape());
  dispatch_float("standard_gamma", x.dtype(), [&](auto t) {
    using T = decltype(t);
    parallel_for(0, x.numel(), 512, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Attempts draw(key, logical(static_cast<uint64_t>(i)));
        out.data<T>()[i] = from_compute<T>(
            static_cast<Accumulator<T>>(gamma_at(draw, static_cast<double>(to_compute(x.data<T>()[i])))));
      }
    });
  });
}

void dirichlet(OpCall& c) {
  Tensor alpha = dense(c.tensor(0));
  const Tensor& out = c.out(0);
  const int64_t n = alpha.size(-1), rows = alpha.numel() / std::max<int64_t>(n, 1);
  const RandomKey key = c.key;
  dispatch_float("dirichlet", alpha.dtype(), [&](auto t) {
    using T = decltype(t);
    parallel_for(0, rows, std::max<int64_t>(1, 512 / std::max<int64_t>(n, 1)), [&](int64_t begin, int64_t end) {
      std::vector<double> g(static_cast<size_t>(n));
      for (int64_t r = begin; r < end; ++r) {
        double sum = 0;
        for (int64_t i = 0; i < n; ++i) {
          Attempts draw(key, static_cast<uint64_t>(r * n + i));
          g[static_cast<size_t>(i)] = gamma_at(draw, static_cast<double>(to_compute(alpha.data<T>()[r * n + i])));
          sum += g[static_cast<size_t>(i)];
        }
        for (int64_t i = 0; i < n; ++i)
          out.data<T>()[r * n + i] = from_compute<T>(static_cast<Accumulator<T>>(g[static_cast<size_t>(i)] / sum));
      }
    });
  });
}

void binomial(OpCall& c) {
  rules::binomial::Args a(c);
  const Tensor& out = c.out(0);
  Tensor count = dense(broadcast_to(a.count, out.shape())), prob = dense(broadcast_to(a.prob, out.shape()));
  LogicalIndex logical(out.shape());
  dispatch_real("binomial", count.dtype(), [&](auto n) {
    using N = decltype(n);
    dispatch_float("binomial", prob.dtype(), [&](auto p) {
      using P = decltype(p);
      for (int64_t i = 0; i < out.numel(); ++i) {
        Attempts draw(c.key, logical(static_cast<uint64_t>(i)));
        out.data<int64_t>()[i] =
            static_cast<int64_t>(binomial_at(draw, static_cast<double>(to_compute(count.data<N>()[i])),
                                             static_cast<double>(to_compute(prob.data<P>()[i]))));
      }
    });
  });
}

const RegisterCpu registered[] = {{"standard_gamma", standard_gamma}, {"dirichlet", dirichlet}, {"binomial", binomial}};

}  // namespace
}  // namespace paddle::kernels
