// What the tile tests share: programs written by hand, and running under each instruction set.
#pragma once
#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "base/cpu_features.h"
#include "phi/kernels/cpu/tile/pointwise.h"

namespace paddle::tile {

using scalar::Fn;
using scalar::Instr;

struct Code {
  std::vector<Instr> instrs;
  std::vector<uint8_t> outputs;
  uint8_t inputs, params;

  scalar::Program program() const { return {"test", instrs, inputs, params, outputs}; }
};

// f over its inputs alone.
inline Code call(Fn f) {
  const auto arity = static_cast<uint8_t>(scalar::info(f).arity);
  return {{{f, 0, 1, 2}}, {arity}, arity, 0};
}

template <class Body>
void for_each_isa(Body body) {
  const CpuIsa before = cpu_isa();
  for (int i = 0; i <= static_cast<int>(best_cpu_isa()); ++i) {
    set_cpu_isa(static_cast<CpuIsa>(i));
    SCOPED_TRACE(std::string(name_of(cpu_isa())));
    body();
  }
  set_cpu_isa(before);
}

template <class T>
inline constexpr DType kDTypeOf = DType::kUndefined;
template <>
inline constexpr DType kDTypeOf<float> = DType::kFloat32;
template <>
inline constexpr DType kDTypeOf<double> = DType::kFloat64;
template <>
inline constexpr DType kDTypeOf<int32_t> = DType::kInt32;
template <>
inline constexpr DType kDTypeOf<int64_t> = DType::kInt64;
template <>
inline constexpr DType kDTypeOf<uint64_t> = DType::kUInt64;
template <>
inline constexpr DType kDTypeOf<int8_t> = DType::kInt8;
template <>
inline constexpr DType kDTypeOf<uint8_t> = DType::kUInt8;
template <>
inline constexpr DType kDTypeOf<int16_t> = DType::kInt16;
template <>
inline constexpr DType kDTypeOf<bool> = DType::kBool;
template <>
inline constexpr DType kDTypeOf<std::complex<float>> = DType::kComplex64;
template <>
inline constexpr DType kDTypeOf<std::complex<double>> = DType::kComplex128;

template <class T>
TileOperand dense(std::vector<T>& v) {
  return {v.data(), kDTypeOf<T>, nullptr};
}

// f over dense vectors of one type.
template <class T>
std::vector<T> apply(Fn f, std::initializer_list<std::vector<T>> operands) {
  std::vector<std::vector<T>> values(operands);
  const int64_t n = static_cast<int64_t>(values[0].size());
  std::vector<T> out(n);
  std::vector<TileOperand> ins;
  for (auto& v : values) ins.push_back(dense(v));
  const TileOperand result = dense(out);
  const Code code = call(f);
  run_pointwise(code.program(), ins, {}, {&result, 1}, {&n, 1}, compute_type({kDTypeOf<T>}));
  return out;
}

}  // namespace paddle::tile
