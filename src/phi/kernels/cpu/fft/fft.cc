// Fourier transforms of tensors along axes: complex to complex, real to half a spectrum and back. Sequences are taken
// several at a time, one per lane of a register.
#include <algorithm>
#include <cmath>
#include <functional>

#include "base/parallel_for.h"
#include "phi/kernels/cpu/fft/lanes.h"
#include "phi/kernels/cpu/fft/plan.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/rules_fft.h"

namespace paddle::kernels {
namespace {

using fft::Complex;
using fft::Lanes;
using fft::Plan;

// The sequences along one axis of a dense tensor: number `line` starts at start(line), its elements `step` apart.
struct Sequences {
  int64_t length, inner;
  int64_t start(int64_t line) const { return line / inner * length * inner + line % inner; }
  int64_t step() const { return inner; }
};

Sequences along(const Tensor& t, int64_t axis) {
  const AroundAxis a = around(t, axis);
  return {a.axis, a.inner};
}

// f(lanes, first line) for groups of lines: full registers, then single ones.
template <class T, class F>
void each_group(int64_t lines, int64_t length, F&& f) {
  using Wide = typename fft::LanesOf<T>::type;
  constexpr int64_t width = Lanes<Wide>::count;
  const int64_t groups = (lines + width - 1) / width;
  const int64_t grain = std::max<int64_t>(1, 4096 / std::max<int64_t>(1, length));
  parallel_for(0, groups, grain, [&](int64_t begin, int64_t end) {
    std::vector<Complex<Wide>> wide;
    std::vector<Complex<T>> narrow;
    for (int64_t g = begin; g < end; ++g) {
      const int64_t first = g * width;
      if (first + width <= lines) {
        f(wide, first);
      } else {
        for (int64_t l = first; l < lines; ++l) f(narrow, l);
      }
    }
  });
}

template <class L>
struct LanesIn;
template <class L>
struct LanesIn<std::vector<Complex<L>>> {
  using type = L;
};

// Element i of a spectrum or sequence; backwards exchanges the parts, which turns the direction of a transform.
template <class L, class T>
void load(Complex<L>& to, int lane, T re, T im, bool backwards) {
  Lanes<L>::set(to.re, lane, backwards ? im : re);
  Lanes<L>::set(to.im, lane, backwards ? re : im);
}

template <class T>
void transform_axis(const Tensor& t, int64_t axis, bool forward, T scale) {
  const Sequences s = along(t, axis);
  const auto plan = fft::plan_for<T>(s.length);
  T* data = reinterpret_cast<T*>(t.data());
  each_group<T>(t.numel() / s.length, s.length, [&](auto& buffer, int64_t line) {
    using L = typename LanesIn<std::remove_reference_t<decltype(buffer)>>::type;
    buffer.resize(static_cast<size_t>(s.length + plan->work_size()));
    Complex<L>* x = buffer.data();
    for (int lane = 0; lane < Lanes<L>::count; ++lane) {
      const T* p = data + 2 * s.start(line + lane);
      for (int64_t i = 0; i < s.length; ++i, p += 2 * s.step()) load(x[i], lane, p[0], p[1], !forward);
    }
    plan->run(x, x + s.length);
    for (int lane = 0; lane < Lanes<L>::count; ++lane) {
      T* p = data + 2 * s.start(line + lane);
      for (int64_t i = 0; i < s.length; ++i, p += 2 * s.step()) {
        const T re = Lanes<L>::get(x[i].re, lane) * scale, im = Lanes<L>::get(x[i].im, lane) * scale;
        p[0] = forward ? re : im;
        p[1] = forward ? im : re;
      }
    }
  });
}

// How a transform of n elements in all is scaled.
double factor(std::string_view normalization, bool forward, double n) {
  if (normalization == "ortho") return 1 / std::sqrt(n);
  return (normalization == "backward") == forward ? 1 : 1 / n;
}

std::vector<int64_t> positive(std::span<const int64_t> axes, int64_t rank) {
  std::vector<int64_t> out;
  for (int64_t a : axes) out.push_back(a < 0 ? a + rank : a);
  return out;
}

// The lengths of a transform's axes multiplied.
double extent(const Tensor& t, std::span<const int64_t> axes) {
  double n = 1;
  for (int64_t a : axes) n *= static_cast<double>(t.size(a));
  return n;
}

// Halves the work for real sequences of even length n: as n / 2 complex numbers z_j = x_2j + i x_2j+1.
// From Z, the spectrum: X_k = (Z_k + conj Z_-k) / 2 - i w^k (Z_k - conj Z_-k) / 2.
template <class T>
std::vector<Complex<T>> half_roots(int64_t n) {
  std::vector<Complex<T>> w;
  for (int64_t k = 0; k <= n / 2; ++k) {
    const Complex<double> r = fft::root(k, n);
    w.push_back({static_cast<T>(r.re), static_cast<T>(r.im)});
  }
  return w;
}

template <class T>
void real_axis(const Tensor& x, const Tensor& out, int64_t axis, bool forward, T scale) {
  const Sequences s = along(x, axis), to = along(out, axis);
  const int64_t n = s.length;
  const bool even = n % 2 == 0;
  const auto plan = fft::plan_for<T>(even ? n / 2 : n);
  const std::vector<Complex<T>> w = even ? half_roots<T>(n) : std::vector<Complex<T>>();
  const T* data = x.data<T>();
  T* spectrum = reinterpret_cast<T*>(out.data());
  each_group<T>(x.numel() / n, n, [&](auto& buffer, int64_t line) {
    using L = typename LanesIn<std::remove_reference_t<decltype(buffer)>>::type;
    const int64_t m = plan->size();
    buffer.resize(static_cast<size_t>(m + plan->work_size()));
    Complex<L>* z = buffer.data();
    for (int lane = 0; lane < Lanes<L>::count; ++lane) {
      const T* p = data + s.start(line + lane);
      if (even)
        for (int64_t i = 0; i < m; ++i, p += 2 * s.step()) load(z[i], lane, p[0], p[s.step()], false);
      else
        for (int64_t i = 0; i < n; ++i, p += s.step()) load(z[i], lane, *p, T(0), false);
    }
    plan->run(z, z + m);
    for (int lane = 0; lane < Lanes<L>::count; ++lane) {
      T* p = spectrum + 2 * to.start(line + lane);
      auto put = [&](int64_t k, T re, T im) {
        if (k == 0 || 2 * k == n) {  // real, so that the sign of zero is no matter of direction
          p[2 * k * to.step()] = re * scale;
          p[2 * k * to.step() + 1] = T(0);
          return;
        }
        p[2 * k * to.step()] = re * scale;
        p[2 * k * to.step() + 1] = (forward ? im : -im) * scale;
      };
      for (int64_t k = 0; k < to.length; ++k) {
        const Complex<L>& a = z[even && k == m ? 0 : k];
        const T ar = Lanes<L>::get(a.re, lane), ai = Lanes<L>::get(a.im, lane);
        if (!even) {
          put(k, ar, ai);
          continue;
        }
        const Complex<L>& b = z[k == 0 || k == m ? 0 : m - k];
        const T br = Lanes<L>::get(b.re, lane), bi = -Lanes<L>::get(b.im, lane);
        const T er = (ar + br) / 2, ei = (ai + bi) / 2, dr = (ai - bi) / 2, di = -(ar - br) / 2;  // -i (a - b) / 2
        const Complex<T>& r = w[static_cast<size_t>(k)];
        put(k, er + dr * r.re - di * r.im, ei + dr * r.im + di * r.re);
      }
    }
  });
}

// From the first half of a Hermitian spectrum to the real sequence of length n.
template <class T>
void spectrum_axis(const Tensor& x, const Tensor& out, int64_t axis, bool forward, T scale) {
  const Sequences s = along(x, axis), to = along(out, axis);
  const int64_t n = to.length;
  const bool even = n % 2 == 0;
  const auto plan = fft::plan_for<T>(even ? n / 2 : n);
  const std::vector<Complex<T>> w = even ? half_roots<T>(n) : std::vector<Complex<T>>();
  const T* spectrum = reinterpret_cast<const T*>(x.data());
  T* data = out.data<T>();
  each_group<T>(out.numel() / n, n, [&](auto& buffer, int64_t line) {
    using L = typename LanesIn<std::remove_reference_t<decltype(buffer)>>::type;
    const int64_t m = plan->size();
    buffer.resize(static_cast<size_t>(m + plan->work_size()));
    Complex<L>* z = buffer.data();
    for (int lane = 0; lane < Lanes<L>::count; ++lane) {
      const T* p = spectrum + 2 * s.start(line + lane);
      // The spectrum of the transform with exp(+i ...): conjugated where the caller's has exp(-i ...).
      auto at = [&](int64_t k) {
        const T* e = p + 2 * k * s.step();
        const bool is_real = k == 0 || 2 * k == n;
        return Complex<T>{e[0], is_real ? T(0) : (forward ? -e[1] : e[1])};
      };
      if (!even) {
        for (int64_t k = 0; k <= n / 2; ++k) {
          const Complex<T> a = at(k);
          load(z[k], lane, a.re, a.im, true);
          if (k > 0) load(z[n - k], lane, a.re, -a.im, true);
        }
        continue;
      }
      for (int64_t k = 0; k < m; ++k) {  // Z_k = (X_k + conj X_m-k) + i w^-k (X_k - conj X_m-k)
        const Complex<T> a = at(k), b = at(m - k);
        const T er = a.re + b.re, ei = a.im - b.im, dr = a.re - b.re, di = a.im + b.im;
        const Complex<T>& r = w[static_cast<size_t>(k)];
        const T tr = dr * r.re + di * r.im, ti = di * r.re - dr * r.im;  // times conj w^k
        load(z[k], lane, er - ti, ei + tr, true);
      }
    }
    plan->run(z, z + m);
    for (int lane = 0; lane < Lanes<L>::count; ++lane) {
      T* p = data + to.start(line + lane);
      for (int64_t i = 0; i < m; ++i) {  // the parts are exchanged
        const T re = Lanes<L>::get(z[i].im, lane) * scale, im = Lanes<L>::get(z[i].re, lane) * scale;
        if (!even) {
          p[i * to.step()] = re;
        } else {
          p[2 * i * to.step()] = re;
          p[(2 * i + 1) * to.step()] = im;
        }
      }
    }
  });
}

// f(float or double) by the element of a complex or real dtype.
template <class F>
void by_part(DType t, F&& f) {
  if (t == DType::kFloat64 || t == DType::kComplex128) return f(double{});
  f(float{});
}

void fft_c2c(OpCall& c) {
  rules::fft_c2c::Args a(c);
  const Tensor& out = c.out(0);
  if (out.numel() == 0) return;
  copy_elements(out, a.x);
  const std::vector<int64_t> axes = positive(a.axes, out.rank());
  const double scale = factor(a.normalization, a.forward, extent(out, axes));
  by_part(out.dtype(), [&](auto t) {
    using T = decltype(t);
    for (size_t i = 0; i < axes.size(); ++i)
      transform_axis<T>(out, axes[i], a.forward, static_cast<T>(i == 0 ? scale : 1));
  });
}

// The other half of a spectrum: X at minus the frequencies is the conjugate.
template <class T>
void mirror(const Tensor& half, const Tensor& whole, const std::vector<int64_t>& axes) {
  using C = std::complex<T>;
  const int64_t rank = whole.rank(), last = axes.back();
  std::vector<int64_t> at(static_cast<size_t>(rank), 0);
  const Strides strides = contiguous_strides(half.shape());
  const C* from = half.data<C>();
  C* to = whole.data<C>();
  for (int64_t i = 0; i < whole.numel(); ++i) {
    const bool mirrored = at[static_cast<size_t>(last)] >= half.size(last);
    int64_t offset = 0;
    for (int64_t d = 0; d < rank; ++d) {
      int64_t k = at[static_cast<size_t>(d)];
      if (mirrored && k > 0 && std::find(axes.begin(), axes.end(), d) != axes.end()) k = whole.size(d) - k;
      offset += k * strides[static_cast<size_t>(d)];
    }
    to[i] = mirrored ? std::conj(from[offset]) : from[offset];
    for (int64_t d = rank - 1; d >= 0 && ++at[static_cast<size_t>(d)] == whole.size(d); --d)
      at[static_cast<size_t>(d)] = 0;
  }
}

void fft_r2c(OpCall& c) {
  rules::fft_r2c::Args a(c);
  const Tensor& out = c.out(0);
  if (out.numel() == 0) return;
  const Tensor x = dense(a.x);
  const std::vector<int64_t> axes = positive(a.axes, out.rank());
  const double scale = factor(a.normalization, a.forward, extent(x, axes));
  Tensor half = out;
  if (!a.onesided) {
    Shape shape = out.shape();
    shape[static_cast<size_t>(axes.back())] = Dim(x.size(axes.back()) / 2 + 1);
    half = Tensor::empty(shape, out.dtype(), out.place());
  }
  by_part(x.dtype(), [&](auto t) {
    using T = decltype(t);
    real_axis<T>(x, half, axes.back(), a.forward, static_cast<T>(scale));
    for (size_t i = 0; i + 1 < axes.size(); ++i) transform_axis<T>(half, axes[i], a.forward, T(1));
    if (!a.onesided) mirror<T>(half, out, axes);
  });
}

void fft_c2r(OpCall& c) {
  rules::fft_c2r::Args a(c);
  const Tensor& out = c.out(0);
  if (out.numel() == 0) return;
  const std::vector<int64_t> axes = positive(a.axes, out.rank());
  Tensor x = dense(a.x);
  if (axes.size() > 1) {
    x = Tensor::empty(a.x.shape(), a.x.dtype(), a.x.place());
    copy_elements(x, a.x);
  }
  const double scale = factor(a.normalization, a.forward, extent(out, axes));
  by_part(out.dtype(), [&](auto t) {
    using T = decltype(t);
    for (size_t i = 0; i + 1 < axes.size(); ++i) transform_axis<T>(x, axes[i], a.forward, T(1));
    spectrum_axis<T>(x, out, axes.back(), a.forward, static_cast<T>(scale));
  });
}

const RegisterCpu registered[] = {{"fft_c2c", fft_c2c}, {"fft_r2c", fft_r2c}, {"fft_c2r", fft_c2r}};

}  // namespace
}  // namespace paddle::kernels
