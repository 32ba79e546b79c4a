// Compiled groups run and compared with the oracle.
#pragma once
#include <gtest/gtest.h>

#include <random>

#include "cinn/jit/compiled.h"
#include "on_devices.h"
#include "oracle.h"

namespace paddle::cinn::testing {

// -- memory

inline double read(const std::vector<uint8_t>& bytes, int64_t i, DType t) {
  auto as = [&](auto zero) {
    std::memcpy(&zero, bytes.data() + i * sizeof(zero), sizeof(zero));
    return zero;
  };
  switch (t) {
    case DType::kFloat32:
      return as(float{});
    case DType::kFloat64:
      return as(double{});
    case DType::kBFloat16:
      return as_f32(uint32_t{as(uint16_t{})} << 16);
    case DType::kFloat16: {
      uint16_t h = as(uint16_t{});
      int e = (h >> 10) & 31, m = h & 1023;
      double v = e == 31 ? (m ? NAN : INFINITY) : e == 0 ? std::ldexp(m, -24) : std::ldexp(m + 1024, e - 25);
      return h & 0x8000 ? -v : v;
    }
    case DType::kInt32:
      return as(int32_t{});
    case DType::kInt64:
      return static_cast<double>(as(int64_t{}));
    case DType::kInt16:
      return as(int16_t{});
    case DType::kInt8:
      return as(int8_t{});
    default:
      return as(uint8_t{});
  }
}

inline void write(std::vector<uint8_t>& bytes, int64_t i, DType t, double x) {
  auto put = [&](auto v) { std::memcpy(bytes.data() + i * sizeof(v), &v, sizeof(v)); };
  switch (t) {
    case DType::kFloat32:
      return put(static_cast<float>(x));
    case DType::kFloat64:
      return put(x);
    case DType::kBFloat16:
      return put(static_cast<uint16_t>(bits_of(static_cast<float>(round_to(x, t))) >> 16));
    case DType::kFloat16: {
      for (int h = 0; h < 65536; ++h) {  // the definition
        std::vector<uint8_t> two{static_cast<uint8_t>(h), static_cast<uint8_t>(h >> 8)};
        if (read(two, 0, t) == x) return put(static_cast<uint16_t>(h));
      }
      ADD_FAILURE() << x << " is no float16";
      return;
    }
    case DType::kInt32:
      return put(static_cast<int32_t>(x));
    case DType::kInt64:
      return put(static_cast<int64_t>(x));
    case DType::kInt16:
      return put(static_cast<int16_t>(x));
    case DType::kInt8:
      return put(static_cast<int8_t>(x));
    default:
      return put(static_cast<uint8_t>(x));
  }
}

struct Tolerance {
  double relative = 4e-6, absolute = 4e-6;
};

inline Tolerance tolerance_of(DType t) {
  if (t == DType::kBFloat16) return {9e-3, 1e-3};
  if (t == DType::kFloat16) return {2e-3, 2e-4};
  if (t == DType::kFloat64) return {1e-13, 1e-14};
  if (t == DType::kFloat32) return {};
  return {0, 0};
}

// Values that the type can hold; integers within +-limit.
inline Tensor random_tensor(int64_t n, DType t, unsigned seed, double low = -3, double high = 3) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<double> d(low, high);
  Tensor out(n);
  for (double& x : out) x = is_float(t) ? round_to(d(rng), t) : t == DType::kBool ? (rng() & 1) : std::floor(d(rng));
  if (t == DType::kUInt8)
    for (double& x : out) x = std::fabs(x);
  return out;
}

inline void expect_close(const Tensor& got, const Tensor& want, Tolerance tol, const std::string& what) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(want[i]) && std::isnan(got[i])) continue;
    if (got[i] == want[i]) continue;
    ASSERT_LE(std::fabs(got[i] - want[i]), tol.absolute + tol.relative * std::fabs(want[i]))
        << what << " element " << i << ": got " << got[i] << ", expected " << want[i];
  }
}

// Runs the compiled group on aligned copies of the inputs, with guard bytes behind each output.
inline std::vector<Tensor> run_compiled(const Group& group, const CompiledGroup& compiled, const Sizes& symbols,
                                        const std::vector<Tensor>& inputs) {
  Reference shapes(group, symbols);
  constexpr size_t kGuard = 64;
  std::vector<std::vector<uint8_t>> in, out;
  std::vector<const void*> in_pointers;
  std::vector<void*> out_pointers;
  for (size_t i = 0; i < group.inputs.size(); ++i) {
    DType t = group.nodes[group.inputs[i]].dtype;
    in.emplace_back(inputs[i].size() * size_of(t));
    for (size_t k = 0; k < inputs[i].size(); ++k) write(in.back(), static_cast<int64_t>(k), t, inputs[i][k]);
  }
  for (auto& b : in) in_pointers.push_back(b.data());
  constexpr size_t kAlignment = 64;  // as the allocator gives it
  for (int o : group.outputs)
    out.emplace_back(count(shapes.sizes(group.nodes[o].shape)) * size_of(group.nodes[o].dtype) + kGuard + kAlignment,
                     uint8_t{0xa5});
  for (auto& b : out)
    out_pointers.push_back(b.data() + (kAlignment - reinterpret_cast<uintptr_t>(b.data()) % kAlignment) % kAlignment);
  compiled.run(in_pointers, out_pointers, symbols);
  for (size_t i = 0; i < out.size(); ++i) {
    out[i].erase(out[i].begin(), out[i].begin() + (static_cast<uint8_t*>(out_pointers[i]) - out[i].data()));
    out[i].resize(count(shapes.sizes(group.nodes[group.outputs[i]].shape)) *
                      size_of(group.nodes[group.outputs[i]].dtype) +
                  kGuard);
  }
  std::vector<Tensor> results;
  for (size_t i = 0; i < out.size(); ++i) {
    DType t = group.nodes[group.outputs[i]].dtype;
    const size_t bytes = out[i].size() - kGuard;
    for (size_t k = bytes; k < out[i].size(); ++k) EXPECT_EQ(out[i][k], 0xa5) << "output " << i << " overrun";
    results.emplace_back();
    for (size_t k = 0; k < bytes / size_of(t); ++k) results.back().push_back(read(out[i], static_cast<int64_t>(k), t));
  }
  return results;
}

inline std::vector<Tensor> random_inputs(const Group& group, const Sizes& symbols, double low = -3, double high = 3) {
  Reference shapes(group, symbols);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < group.inputs.size(); ++i) {
    const Node& n = group.nodes[group.inputs[i]];
    inputs.push_back(random_tensor(count(shapes.sizes(n.shape)), n.dtype, static_cast<unsigned>(17 + i), low, high));
  }
  return inputs;
}

inline void check_group(const Group& group, const CompiledGroup& compiled, const Sizes& symbols,
                        std::vector<Tensor> inputs) {
  auto want = Reference(group, symbols).run(inputs);
  auto got = run_compiled(group, compiled, symbols, inputs);
  for (size_t i = 0; i < want.size(); ++i) {
    const DType t = group.nodes[group.outputs[i]].dtype;
    for (double& x : want[i]) x = round_to(x, t);
    expect_close(got[i], want[i], tolerance_of(t), "output " + std::to_string(i));
    if (::testing::Test::HasFatalFailure()) {
      ADD_FAILURE() << compiled.module().str();
      return;
    }
  }
  check_on_devices(group, symbols, inputs, want);
}

// Compiles the group and compares with the oracle on random inputs; also with the schedule for several threads.
inline void check_group(const Group& group, const Sizes& symbols = {}, double low = -3, double high = 3) {
  Target target = host_target();
  target.threads = 2;
  auto compiled = compile(group, target, nullptr);
  check_group(group, *compiled, symbols, random_inputs(group, symbols, low, high));
}

}  // namespace paddle::cinn::testing
