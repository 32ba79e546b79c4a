#include "distributed/comm/reduce.h"

#include <algorithm>
#include <complex>
#include <functional>
#include <type_traits>

#include "base/error.h"
#include "tensor/float16.h"

namespace paddle::comm {
namespace {

constexpr int64_t kBlock = 1024;  // elements; accumulators stay in L1

// A stored type T that is accumulated as A.
template <class T, class A>
struct Plain {
  using Stored = T;
  using Sum = A;
  static A load(T x) { return static_cast<A>(x); }
  static T store(A x) { return static_cast<T>(x); }
};

template <class T, float (*Load)(T), T (*Store)(float)>
struct Small {
  using Stored = T;
  using Sum = float;
  static float load(T x) { return Load(x); }
  static T store(float x) { return Store(x); }
};

struct Bool {
  using Stored = uint8_t;
  using Sum = uint8_t;
  static uint8_t load(uint8_t x) { return x != 0; }
  static uint8_t store(uint8_t x) { return x; }
};

template <class A, class F>
void accumulate(A* acc, const A* x, int64_t n, F f) {
  for (int64_t i = 0; i < n; ++i) acc[i] = f(acc[i], x[i]);
}

// NaN wins, as in maximum and minimum.
template <class A>
A larger(A a, A b) {
  return a > b || a != a ? a : b;
}
template <class A>
A smaller(A a, A b) {
  return a < b || a != a ? a : b;
}

// Integers wrap around, as the operators do.
template <class A, class F>
A wrapping(A a, A b, F f) {
  if constexpr (std::is_integral_v<A>) {
    using U = std::make_unsigned_t<A>;
    return static_cast<A>(f(static_cast<U>(a), static_cast<U>(b)));
  } else {
    return f(a, b);
  }
}

template <class Type>
void combine(typename Type::Sum* acc, const typename Type::Sum* x, int64_t n, ReduceOp op) {
  using A = typename Type::Sum;
  if constexpr (std::is_same_v<Type, Bool>) {
    bool either = op == ReduceOp::kSum || op == ReduceOp::kMax;
    if (either)
      accumulate(acc, x, n, [](A a, A b) { return static_cast<A>(a | b); });
    else
      accumulate(acc, x, n, [](A a, A b) { return static_cast<A>(a & b); });
  } else {
    switch (op) {
      case ReduceOp::kSum:
      case ReduceOp::kAvg:
        return accumulate(acc, x, n, [](A a, A b) { return wrapping(a, b, std::plus<>()); });
      case ReduceOp::kProd:
        return accumulate(acc, x, n, [](A a, A b) { return wrapping(a, b, std::multiplies<>()); });
      case ReduceOp::kMax:
        if constexpr (std::is_arithmetic_v<A>) accumulate(acc, x, n, larger<A>);
        return;
      case ReduceOp::kMin:
        if constexpr (std::is_arithmetic_v<A>) accumulate(acc, x, n, smaller<A>);
        return;
    }
  }
}

template <class Type>
void run(std::span<const void* const> inputs, void* out, int64_t count, ReduceOp op) {
  using T = typename Type::Stored;
  using A = typename Type::Sum;
  A acc[kBlock], next[kBlock];
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    int64_t n = std::min(kBlock, count - begin);
    auto load = [&](const void* input, A* to) {
      const T* from = static_cast<const T*>(input) + begin;
      for (int64_t i = 0; i < n; ++i) to[i] = Type::load(from[i]);
    };
    load(inputs[0], acc);
    for (size_t k = 1; k < inputs.size(); ++k) {
      load(inputs[k], next);
      combine<Type>(acc, next, n, op);
    }
    if constexpr (!std::is_same_v<Type, Bool>) {
      if (op == ReduceOp::kAvg) {
        A ranks = static_cast<A>(inputs.size());
        for (int64_t i = 0; i < n; ++i) acc[i] = static_cast<A>(acc[i] / ranks);
      }
    }
    T* to = static_cast<T*>(out) + begin;
    for (int64_t i = 0; i < n; ++i) to[i] = Type::store(acc[i]);
  }
}

}  // namespace

std::string_view name_of(ReduceOp op) {
  constexpr std::string_view kNames[] = {"sum", "max", "min", "prod", "avg"};
  return kNames[static_cast<int>(op)];
}

void reduce(std::span<const void* const> inputs, void* out, int64_t count, DType dtype, ReduceOp op) {
  check(!is_complex(dtype) || (op != ReduceOp::kMax && op != ReduceOp::kMin), ErrorKind::kValue,
        "[all_reduce] complex numbers have no {}", name_of(op));
  switch (dtype) {
    case DType::kBool:
      return run<Bool>(inputs, out, count, op);
    // Sums wrap around as in the operators; averages are taken of a wide sum.
    case DType::kUInt8:
      return run<Plain<uint8_t, uint64_t>>(inputs, out, count, op);
    case DType::kInt8:
      return run<Plain<int8_t, int64_t>>(inputs, out, count, op);
    case DType::kInt16:
      return run<Plain<int16_t, int64_t>>(inputs, out, count, op);
    case DType::kInt32:
      return run<Plain<int32_t, int64_t>>(inputs, out, count, op);
    case DType::kInt64:
      return run<Plain<int64_t, int64_t>>(inputs, out, count, op);
    case DType::kUInt16:
      return run<Plain<uint16_t, uint64_t>>(inputs, out, count, op);
    case DType::kUInt32:
      return run<Plain<uint32_t, uint64_t>>(inputs, out, count, op);
    case DType::kUInt64:
      return run<Plain<uint64_t, uint64_t>>(inputs, out, count, op);
    case DType::kFloat16:
      return run<Small<uint16_t, f16_to_f32, f32_to_f16>>(inputs, out, count, op);
    case DType::kBFloat16:
      return run<Small<uint16_t, bf16_to_f32, f32_to_bf16>>(inputs, out, count, op);
    case DType::kFloat8E4M3FN:
      return run<Small<uint8_t, f8e4m3_to_f32, f32_to_f8e4m3>>(inputs, out, count, op);
    case DType::kFloat8E5M2:
      return run<Small<uint8_t, f8e5m2_to_f32, f32_to_f8e5m2>>(inputs, out, count, op);
    case DType::kFloat32:
      return run<Plain<float, float>>(inputs, out, count, op);
    case DType::kFloat64:
      return run<Plain<double, double>>(inputs, out, count, op);
    case DType::kComplex64:
      return run<Plain<std::complex<float>, std::complex<float>>>(inputs, out, count, op);
    case DType::kComplex128:
      return run<Plain<std::complex<double>, std::complex<double>>>(inputs, out, count, op);
    case DType::kUndefined:
    case DType::kCount:
      break;
  }
  fail(ErrorKind::kType, "[all_reduce] expected a tensor with a dtype");
}

}  // namespace paddle::comm
