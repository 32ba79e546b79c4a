// Random tensors on the CPU. Each element has its own counter, so ranges may be computed in any order by any thread.
#include "phi/kernels/cpu/random.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "api/shard.h"
#include "base/parallel_for.h"
#include "phi/kernels/cpu/dispatch_type.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/rules_random.h"
#include "tensor/element.h"

namespace paddle::kernels {
namespace {

// A seed given to the operator itself makes it repeat whatever the generator says.
RandomKey key_of(const OpCall& c, int64_t seed) { return seed ? RandomKey{static_cast<uint64_t>(seed), 0} : c.key; }

template <class F>
void generate(std::string_view op, const Tensor& out, F&& value) {
  LogicalIndex logical(out.shape());
  auto fill = [&](auto t) {
    using T = decltype(t);
    T* p = out.data<T>();
    parallel_for(0, out.numel(), 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        p[i] = from_compute<T>(static_cast<Accumulator<T>>(value(logical(static_cast<uint64_t>(i)))));
    });
  };
  if (is_complex(out.dtype())) {  // real and imaginary part are one number each, half the variance
    Tensor real = out.as_view(Shape{Dim(2 * out.numel())}, Strides{1}, 2 * out->offset);
    real->dtype = real_of(out.dtype());
    dispatch_float(op, real.dtype(), [&](auto t) {
      using T = decltype(t);
      T* p = real.data<T>();
      for (int64_t i = 0; i < real.numel(); ++i)
        p[i] = from_compute<T>(static_cast<Accumulator<T>>(
            value(2 * logical(static_cast<uint64_t>(i / 2)) + static_cast<uint64_t>(i % 2)) * 0.7071067811865476));
    });
    return;
  }
  dispatch_float(op, out.dtype(), fill);
}

void gaussian(OpCall& c) {
  rules::gaussian::Args a(c);
  RandomKey key = key_of(c, a.seed);
  generate("gaussian", c.out(0), [&](uint64_t i) { return a.mean + a.std_ * normal_at(key, i); });
}

void uniform(OpCall& c) {
  rules::uniform::Args a(c);
  RandomKey key = key_of(c, a.seed);
  double low = a.min.to_double(), range = a.max.to_double() - low;
  bool wide = c.out(0).dtype() == DType::kFloat64;
  generate("uniform", c.out(0),
           [&](uint64_t i) { return low + range * (wide ? uniform64_at(key, i) : uniform_at(key, i)); });
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x * 0.7071067811865476); }

// The inverse of the normal distribution function (Acklam's rational approximation and one Newton step; Wichura 1988
// has the background).
double normal_quantile(double p) {
  static constexpr double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                                 1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  static constexpr double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                                 6.680131188771972e+01, -1.328068155288572e+01};
  static constexpr double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                                 -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  static constexpr double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                                 3.754408661907416e+00};
  p = std::clamp(p, 1e-300, 1.0 - 1e-16);
  double x;
  if (p < 0.02425 || p > 1 - 0.02425) {
    double q = std::sqrt(-2 * std::log(p < 0.5 ? p : 1 - p));
    x = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
        ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
    if (p > 0.5) x = -x;
  } else {
    double q = p - 0.5, r = q * q;
    x = (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
        (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
  }
  double error = normal_cdf(x) - p;
  return x - error * 2.5066282746310002 * std::exp(x * x / 2);
}

void truncated_gaussian(OpCall& c) {
  rules::truncated_gaussian_random::Args a(c);
  RandomKey key = key_of(c, a.seed);
  double low = normal_cdf(a.a), range = normal_cdf(a.b) - low;
  generate("truncated_gaussian_random", c.out(0), [&](uint64_t i) {
    double z = normal_quantile(low + range * uniform64_at(key, i));
    return a.mean + a.std_ * std::clamp(z, a.a, a.b);
  });
}

void randint(OpCall& c) {
  rules::randint::Args a(c);
  check(a.high > a.low, ErrorKind::kValue, "[randint] expected low < high, got [{}, {})", a.low, a.high);
  const Tensor& out = c.out(0);
  uint64_t range = static_cast<uint64_t>(a.high) - static_cast<uint64_t>(a.low);
  size_t item = size_of(out.dtype());
  RandomKey key = c.key;
  for (int64_t i = 0, n = out.numel(); i < n; ++i) {
    RandomBits b = random_bits(key, static_cast<uint64_t>(i));
    uint64_t r = (uint64_t{b.v[0]} << 32) | b.v[1];
    // The high half of the product is uniform over the range to within 2^-64.
    uint64_t k = static_cast<uint64_t>((static_cast<unsigned __int128>(r) * range) >> 64);
    write_int(out.data<char>() + static_cast<size_t>(i) * item, out.dtype(),
              static_cast<int64_t>(static_cast<uint64_t>(a.low) + k));
  }
}

// The order of random numbers: sorting by them permutes uniformly, and depends on no order of computation.
void randperm(OpCall& c) {
  const Tensor& out = c.out(0);
  int64_t n = out.numel();
  std::vector<std::pair<uint64_t, int64_t>> keyed(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    RandomBits b = random_bits(c.key, static_cast<uint64_t>(i));
    keyed[static_cast<size_t>(i)] = {(uint64_t{b.v[0]} << 32) | b.v[1], i};
  }
  std::sort(keyed.begin(), keyed.end());
  size_t item = size_of(out.dtype());
  for (int64_t i = 0; i < n; ++i)
    write_int(out.data<char>() + static_cast<size_t>(i) * item, out.dtype(), keyed[static_cast<size_t>(i)].second);
}

void bernoulli(OpCall& c) {
  Tensor x = dense(c.tensor(0));
  RandomKey key = c.key;
  LogicalIndex logical(x.shape());
  dispatch_float("bernoulli", x.dtype(), [&](auto t) {
    using T = decltype(t);
    for (int64_t i = 0; i < x.numel(); ++i)
      c.out(0).data<T>()[i] = from_compute<T>(uniform_at(key, logical(static_cast<uint64_t>(i))) <
                                              static_cast<double>(to_compute(x.data<T>()[i])));
  });
}

void multinomial(OpCall& c) {
  rules::multinomial::Args a(c);
  Tensor x = dense(a.x);
  const Tensor& out = c.out(0);
  int64_t n = x.size(-1), rows = x.numel() / std::max<int64_t>(n, 1), samples = out.size(-1);
  dispatch_float("multinomial", x.dtype(), [&](auto t) {
    using T = decltype(t);
    for (int64_t r = 0; r < rows; ++r) {
      std::vector<double> weight(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) {
        double w = static_cast<double>(to_compute(x.data<T>()[r * n + i]));
        check(w >= 0 && std::isfinite(w), ErrorKind::kValue,
              "[multinomial] expected weights that are finite and not negative, got {}", w);
        weight[static_cast<size_t>(i)] = w;
      }
      double total = std::accumulate(weight.begin(), weight.end(), 0.0);
      check(total > 0, ErrorKind::kValue, "[multinomial] expected weights with a sum above 0");
      for (int64_t s = 0; s < samples; ++s) {
        double at = uniform64_at(c.key, static_cast<uint64_t>(r * samples + s)) * total;
        int64_t pick = 0;
        for (int64_t last = 0; pick < n; ++pick) {
          double w = weight[static_cast<size_t>(pick)];
          if (w > 0) last = pick;
          if (at < w) break;
          at -= w;
          if (pick + 1 == n) {  // rounding left a rest: the last possible one
            pick = last;
            break;
          }
        }
        out.data<int64_t>()[r * samples + s] = pick;
        if (a.replacement) continue;
        total -= weight[static_cast<size_t>(pick)];
        weight[static_cast<size_t>(pick)] = 0;
      }
    }
  });
}

void exponential(OpCall& c) {
  rules::exponential::Args a(c);
  RandomKey key = c.key;
  DenseTarget target(c.out(0), false);
  generate("exponential", target.tensor(), [&](uint64_t i) { return -std::log1p(-uniform64_at(key, i)) / a.lam; });
  target.finish();
}

// One uniform number per element. Above a mean of 500 the rounded normal distribution, whose error is below 1 % of the
// deviation.
double poisson_at(RandomKey key, uint64_t i, double mean) {
  if (mean <= 0) return 0;
  if (mean > 500) return std::max(0.0, std::floor(mean + std::sqrt(mean) * normal_at(key, i) + 0.5));
  // Inversion: one uniform number, the distribution summed up to it.
  double u = uniform64_at(key, i), p = std::exp(-mean), sum = p;
  double k = 0;
  while (u > sum && k < 10 * mean + 100) {
    k += 1;
    p *= mean / k;
    sum += p;
  }
  return k;
}

void poisson(OpCall& c) {
  Tensor x = dense(c.tensor(0));
  RandomKey key = c.key;
  LogicalIndex logical(x.shape());
  dispatch_float("poisson", x.dtype(), [&](auto t) {
    using T = decltype(t);
    for (int64_t i = 0; i < x.numel(); ++i)
      c.out(0).data<T>()[i] = from_compute<T>(static_cast<Accumulator<T>>(
          poisson_at(key, logical(static_cast<uint64_t>(i)), static_cast<double>(to_compute(x.data<T>()[i])))));
  });
}

const RegisterCpu registered[] = {
    {"gaussian", gaussian},       {"uniform", uniform},   {"truncated_gaussian_random", truncated_gaussian},
    {"randint", randint},         {"randperm", randperm}, {"bernoulli", bernoulli},
    {"multinomial", multinomial}, {"poisson", poisson},   {"exponential", exponential}};

}  // namespace
}  // namespace paddle::kernels
