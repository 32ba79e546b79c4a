// Compiled groups run and compared with the oracle.
#pragma once
#include <gtest/gtest.h>

#include <random>

#include "cinn/jit/compiled.h"
#include "cinn/loop/in_place.h"
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

// Bytes as the allocator gives them, with guard bytes behind.
class Guarded {
 public:
  explicit Guarded(size_t bytes) : bytes_(bytes), all_(bytes + kGuard + kAlignment, uint8_t{0xa5}) {}
  uint8_t* data() {
    return all_.data() + (kAlignment - reinterpret_cast<uintptr_t>(all_.data()) % kAlignment) % kAlignment;
  }
  std::vector<uint8_t> bytes() { return {data(), data() + bytes_}; }
  bool intact() {
    return std::all_of(data() + bytes_, data() + bytes_ + kGuard, [](uint8_t b) { return b == 0xa5; });
  }

 private:
  static constexpr size_t kGuard = 64, kAlignment = 64;
  size_t bytes_;
  std::vector<uint8_t> all_;
};

// An output that is written where an input lies.
struct Over {
  int input = -1, output = -1;
};

// Runs the compiled group on copies of the inputs.
inline std::vector<Tensor> run_compiled(const Group& group, const CompiledGroup& compiled, const Sizes& symbols,
                                        const std::vector<Tensor>& inputs, Over over = {}) {
  Reference shapes(group, symbols);
  std::vector<Guarded> in, out;
  std::vector<const void*> in_pointers;
  std::vector<void*> out_pointers;
  for (size_t i = 0; i < group.inputs.size(); ++i) {
    DType t = group.nodes[group.inputs[i]].dtype;
    std::vector<uint8_t> bytes(inputs[i].size() * size_of(t));
    for (size_t k = 0; k < inputs[i].size(); ++k) write(bytes, static_cast<int64_t>(k), t, inputs[i][k]);
    in.emplace_back(bytes.size());
    std::copy(bytes.begin(), bytes.end(), in.back().data());
  }
  for (auto& b : in) in_pointers.push_back(b.data());
  for (int o : group.outputs)
    out.emplace_back(static_cast<size_t>(count(shapes.sizes(group.nodes[o].shape))) * size_of(group.nodes[o].dtype));
  for (auto& b : out) out_pointers.push_back(b.data());
  if (over.output >= 0) out_pointers[over.output] = in[over.input].data();
  compiled.run(in_pointers, out_pointers, symbols);
  std::vector<Tensor> results;
  for (size_t i = 0; i < out.size(); ++i) {
    DType t = group.nodes[group.outputs[i]].dtype;
    Guarded& memory = static_cast<int>(i) == over.output ? in[over.input] : out[i];
    EXPECT_TRUE(memory.intact()) << "output " << i << " overrun";
    const std::vector<uint8_t> bytes = memory.bytes();
    results.emplace_back();
    for (size_t k = 0; k < bytes.size() / size_of(t); ++k)
      results.back().push_back(read(bytes, static_cast<int64_t>(k), t));
  }
  return results;
}

// Whatever output may be written where an input lies comes out bit for bit as elsewhere. Returns how many may.
inline int check_in_place(const Group& group, const CompiledGroup& compiled, const Sizes& symbols,
                          const std::vector<Tensor>& inputs, const std::vector<Tensor>& apart) {
  int pairs = 0;
  for (int i = 0; i < static_cast<int>(group.inputs.size()); ++i)
    for (int o = 0; o < static_cast<int>(group.outputs.size()); ++o) {
      if (!may_overwrite(compiled.module(), i, o)) continue;
      ++pairs;
      const auto got = run_compiled(group, compiled, symbols, inputs, {i, o});
      for (size_t r = 0; r < got.size(); ++r)
        for (size_t k = 0; k < got[r].size(); ++k)
          if (std::memcmp(&got[r][k], &apart[r][k], sizeof(got[r][k])) != 0) {
            ADD_FAILURE() << "output " << o << " over input " << i << ": element " << k << " of output " << r << " is "
                          << got[r][k] << ", elsewhere " << apart[r][k] << "\n"
                          << compiled.module().str();
            return pairs;
          }
    }
  return pairs;
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
  check_in_place(group, compiled, symbols, inputs, got);
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
