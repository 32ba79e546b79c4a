// What the lanes of a transform are: one number, or a vector register of them.
#pragma once

namespace paddle::kernels::fft {

using Floats = float __attribute__((vector_size(16)));
using Doubles = double __attribute__((vector_size(16)));

template <class T>
struct LanesOf;
template <>
struct LanesOf<float> {
  using type = Floats;
};
template <>
struct LanesOf<double> {
  using type = Doubles;
};

template <class L>
struct Lanes {
  static constexpr int count = 1;
  static void set(L& l, int, L v) { l = v; }
  static L get(const L& l, int) { return l; }
};
template <>
struct Lanes<Floats> {
  static constexpr int count = 4;
  static void set(Floats& l, int i, float v) { l[i] = v; }
  static float get(const Floats& l, int i) { return l[i]; }
};
template <>
struct Lanes<Doubles> {
  static constexpr int count = 2;
  static void set(Doubles& l, int i, double v) { l[i] = v; }
  static double get(const Doubles& l, int i) { return l[i]; }
};

}  // namespace paddle::kernels::fft
