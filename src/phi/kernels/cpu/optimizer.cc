// Optimisers' updates on the CPU: one pass over each parameter, in f32 (f64 for f64 parameters). The loops are compiled
// for several instruction sets; the loader picks.
#include <cmath>

#include "base/flush_denormals.h"
#include "base/parallel_for.h"
#include "phi/kernels/cpu/dispatch_type.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/rules_optimizer.h"
#include "tensor/element.h"

#define PD_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))

namespace paddle::kernels {
namespace {

constexpr int64_t kGrain = 1 << 14;

// A bucket's tensor i, written through a dense copy where it is strided.
const Tensor* item(std::span<const Tensor> list, size_t i) {
  return i < list.size() && list[i].defined() ? &list[i] : nullptr;
}

template <class T>
T* pointer(const Tensor* t) {
  return t ? t->data<T>() : nullptr;
}

void check_dense(std::string_view op, const Tensor* t) {
  check(!t || t->is_contiguous(), ErrorKind::kValue, "[{}] expected contiguous parameters and states", op);
}

// The update runs on `w`: the master copy where there is one, else the parameter. Returns whether the parameter must be
// rounded from it.
template <class Step>
void for_each_param(std::string_view op, std::span<const Tensor> params, std::span<const Tensor> grads,
                    std::span<const Tensor> masters, Step&& step) {
  for (size_t i = 0; i < params.size(); ++i) {
    const Tensor* master = item(masters, i);
    check_dense(op, &params[i]);
    check_dense(op, master);
    DType work = params[i].dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
    if (!master && params[i].dtype() == work && grads[i].dtype() == work && grads[i].is_contiguous()) {
      step(i, params[i], grads[i]);
      continue;
    }
    Tensor g = dense(grads[i]);
    auto widened = [&](const Tensor& t) {
      if (t.dtype() == work) return t;
      Tensor out = Tensor::empty(t.shape(), work, t.place());
      dispatch_float(op, t.dtype(), [&](auto v) {
        using T = decltype(v);
        const T* from = t.data<T>();
        for (int64_t k = 0; k < t.numel(); ++k) {
          if (work == DType::kFloat64)
            out.data<double>()[k] = static_cast<double>(to_compute(from[k]));
          else
            out.data<float>()[k] = static_cast<float>(to_compute(from[k]));
        }
      });
      return out;
    };
    Tensor w = master ? *master : widened(params[i]);
    step(i, w, widened(g));
    if (w.same(params[i])) continue;
    dispatch_float(op, params[i].dtype(), [&](auto v) {
      using T = decltype(v);
      T* to = params[i].data<T>();
      for (int64_t k = 0; k < w.numel(); ++k) to[k] = from_compute<T>(static_cast<Accumulator<T>>(w.data<float>()[k]));
    });
  }
}

// The states of what gets no gradient any more shrink at every step, and would stay denormal for good.
template <class F>
void in_parts(int64_t n, F&& f) {
  auto part = [&](int64_t begin, int64_t end) {
    FlushDenormals scope;
    f(begin, end);
  };
  if (n <= kGrain) return part(0, n);
  parallel_for(0, n, kGrain, part);
}

#define PD_SGD(T)                                                                                        \
  PD_CLONES void sgd_loop(T* __restrict w, const T* __restrict g, T lr, T decay, int64_t b, int64_t e) { \
    for (int64_t i = b; i < e; ++i) w[i] -= lr * (g[i] + decay * w[i]);                                  \
  }
PD_SGD(float)
PD_SGD(double)

#define PD_MOMENTUM(T)                                                                                       \
  PD_CLONES void momentum_loop(T* __restrict w, const T* __restrict g, T* __restrict v, T lr, T mu, T decay, \
                               T rescale, T nesterov, int64_t b, int64_t e) {                                \
    for (int64_t i = b; i < e; ++i) {                                                                        \
      T d = rescale * g[i] + decay * w[i];                                                                   \
      v[i] = mu * v[i] + d;                                                                                  \
      w[i] -= lr * (nesterov * (d + mu * v[i]) + (1 - nesterov) * v[i]);                                     \
    }                                                                                                        \
  }
PD_MOMENTUM(float)
PD_MOMENTUM(double)

template <class T>
struct AdamStep {
  T keep, beta1, beta2, rate, epsilon;  // rate = lr * sqrt(1 - beta2^t) / (1 - beta1^t); epsilon scaled likewise
};
#define PD_ADAM(T)                                                                                                  \
  PD_CLONES void adam_loop(T* __restrict w, const T* __restrict g, T* __restrict m, T* __restrict v, AdamStep<T> s, \
                           int64_t b, int64_t e) {                                                                  \
    for (int64_t i = b; i < e; ++i) {                                                                               \
      T mi = s.beta1 * m[i] + (1 - s.beta1) * g[i];                                                                 \
      T vi = s.beta2 * v[i] + (1 - s.beta2) * g[i] * g[i];                                                          \
      m[i] = mi;                                                                                                    \
      v[i] = vi;                                                                                                    \
      w[i] = w[i] * s.keep - s.rate * (mi / (std::sqrt(vi) + s.epsilon));                                           \
    }                                                                                                               \
  }                                                                                                                 \
  PD_CLONES void amsgrad_loop(T* __restrict w, const T* __restrict g, T* __restrict m, T* __restrict v,             \
                              T* __restrict most, AdamStep<T> s, int64_t b, int64_t e) {                            \
    for (int64_t i = b; i < e; ++i) {                                                                               \
      T mi = s.beta1 * m[i] + (1 - s.beta1) * g[i];                                                                 \
      T vi = s.beta2 * v[i] + (1 - s.beta2) * g[i] * g[i];                                                          \
      m[i] = mi;                                                                                                    \
      v[i] = vi;                                                                                                    \
      most[i] = most[i] > vi ? most[i] : vi;                                                                        \
      w[i] = w[i] * s.keep - s.rate * (mi / (std::sqrt(most[i]) + s.epsilon));                                      \
    }                                                                                                               \
  }
PD_ADAM(float)
PD_ADAM(double)

template <class F>
void in_work_type(const Tensor& w, F&& f) {
  if (w.dtype() == DType::kFloat64)
    f(double{});
  else
    f(float{});
}

void fused_sgd(OpCall& c) {
  rules::fused_sgd_::Args a(c);
  const double lr = a.lr.to_double();
  for_each_param("fused_sgd_", a.params, a.grads, a.masters, [&](size_t, const Tensor& w, const Tensor& g) {
    in_work_type(w, [&](auto t) {
      using T = decltype(t);
      in_parts(w.numel(), [&](int64_t b, int64_t e) {
        sgd_loop(w.data<T>(), g.data<T>(), static_cast<T>(lr), static_cast<T>(a.weight_decay), b, e);
      });
    });
  });
}

void fused_momentum(OpCall& c) {
  rules::fused_momentum_::Args a(c);
  const double lr = a.lr.to_double();
  for_each_param("fused_momentum_", a.params, a.grads, a.masters, [&](size_t i, const Tensor& w, const Tensor& g) {
    const Tensor& v = a.velocities[i];
    check(v.dtype() == w.dtype(), ErrorKind::kType, "[fused_momentum_] expected velocities of dtype {}, got {}",
          name_of(w.dtype()), name_of(v.dtype()));
    check_dense("fused_momentum_", &v);
    in_work_type(w, [&](auto t) {
      using T = decltype(t);
      in_parts(w.numel(), [&](int64_t b, int64_t e) {
        momentum_loop(w.data<T>(), g.data<T>(), v.data<T>(), static_cast<T>(lr), static_cast<T>(a.mu),
                      static_cast<T>(a.weight_decay), static_cast<T>(a.rescale), static_cast<T>(a.use_nesterov), b, e);
      });
    });
  });
}

// A power tensor's value, multiplied on for the next step. The value before is that of the step that runs now, as
// official Paddle keeps it.
double advance(const Tensor& power, double beta) {
  double now = read_element(power, 0).real();
  write_element(power.data(), power.dtype(), now * beta);
  return now;
}

void fused_adam(OpCall& c) {
  rules::fused_adam_multi_::Args a(c);
  const double lr = a.lr.to_double();
  for_each_param("fused_adam_multi_", a.params, a.grads, a.masters, [&](size_t i, const Tensor& w, const Tensor& g) {
    double p1 = advance(a.beta1_pows[i], a.beta1), p2 = advance(a.beta2_pows[i], a.beta2);
    const Tensor &m = a.moment1s[i], &v = a.moment2s[i];
    check(m.dtype() == w.dtype() && v.dtype() == w.dtype(), ErrorKind::kType,
          "[fused_adam_multi_] expected moments of dtype {}, got {} and {}", name_of(w.dtype()), name_of(m.dtype()),
          name_of(v.dtype()));
    const Tensor* most = a.amsgrad ? item(a.moment2_maxs, i) : nullptr;
    for (const Tensor* t : {&m, &v, most}) check_dense("fused_adam_multi_", t);
    // Both moments' corrections for their start at zero, folded into the rate: sqrt(v) / sqrt(1 - p2) + epsilon, times
    // it.
    double correct = std::sqrt(1 - p2);
    in_work_type(w, [&](auto t) {
      using T = decltype(t);
      AdamStep<T> s{static_cast<T>(1 - lr * a.weight_decay), static_cast<T>(a.beta1), static_cast<T>(a.beta2),
                    static_cast<T>(lr * correct / (1 - p1)), static_cast<T>(a.epsilon * correct)};
      in_parts(w.numel(), [&](int64_t b, int64_t e) {
        if (most)
          amsgrad_loop(w.data<T>(), g.data<T>(), m.data<T>(), v.data<T>(), pointer<T>(most), s, b, e);
        else
          adam_loop(w.data<T>(), g.data<T>(), m.data<T>(), v.data<T>(), s, b, e);
      });
    });
  });
}

const RegisterCpu registered[] = {
    {"fused_sgd_", fused_sgd}, {"fused_momentum_", fused_momentum}, {"fused_adam_multi_", fused_adam}};

}  // namespace
}  // namespace paddle::kernels
