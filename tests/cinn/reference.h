// The oracle: computes a group node by node, in double, over whole tensors, as a reader would by hand.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "cinn/jit/compiled.h"
#include "on_devices.h"

namespace paddle::cinn::testing {

using Sizes = std::vector<int64_t>;
using Tensor = std::vector<double>;

inline int64_t count(const Sizes& s) {
  int64_t n = 1;
  for (int64_t d : s) n *= d;
  return n;
}

inline float as_f32(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}
inline uint32_t bits_of(float f) {
  uint32_t u;
  std::memcpy(&u, &f, 4);
  return u;
}

inline double round_to(double x, DType t) {
  switch (t) {
    case DType::kFloat32:
      return static_cast<float>(x);
    case DType::kBFloat16: {
      if (std::isnan(x)) return x;
      uint32_t u = bits_of(static_cast<float>(x));
      return as_f32((u + 0x7fff + ((u >> 16) & 1)) & 0xffff0000u);
    }
    case DType::kFloat16: {
      if (!std::isfinite(x) || x == 0) return x;
      int e;
      std::frexp(x, &e);
      double step = std::ldexp(1.0, std::max(e - 11, -24)), r = std::nearbyint(x / step) * step;
      return std::fabs(r) >= 65520 ? std::copysign(INFINITY, r) : r;
    }
    case DType::kBool:
      return x != 0;
    case DType::kInt32:
      return static_cast<int32_t>(static_cast<int64_t>(x));
    case DType::kUInt8:
      return static_cast<uint8_t>(static_cast<int64_t>(x));
    case DType::kInt8:
      return static_cast<int8_t>(static_cast<int64_t>(x));
    case DType::kInt64:
      return std::trunc(x);
    default:
      return x;
  }
}

inline double apply(scalar::Fn fn, double a, double b, double c, bool integer) {
  using enum scalar::Fn;
  switch (fn) {
    case add:
      return a + b;
    case sub:
      return a - b;
    case mul:
      return a * b;
    case div:
      return integer ? (b == 0 ? 0 : std::trunc(a / b)) : a / b;
    case fma:
      return a * b + c;
    case pow:
      return std::pow(a, b);
    case neg:
      return -a;
    case abs:
      return std::fabs(a);
    case sqrt:
      return std::sqrt(a);
    case rsqrt:
      return 1 / std::sqrt(a);
    case square:
      return a * a;
    case reciprocal:
      return 1 / a;
    case exp:
      return std::exp(a);
    case exp2:
      return std::exp2(a);
    case expm1:
      return std::expm1(a);
    case log:
      return std::log(a);
    case log2:
      return std::log2(a);
    case log10:
      return std::log10(a);
    case log1p:
      return std::log1p(a);
    case sin:
      return std::sin(a);
    case cos:
      return std::cos(a);
    case tan:
      return std::tan(a);
    case tanh:
      return std::tanh(a);
    case sigmoid:
      return 1 / (1 + std::exp(-a));
    case erf:
      return std::erf(a);
    case floor:
      return std::floor(a);
    case round:
      return std::nearbyint(a);
    case max:
      return std::isnan(a) ? a : std::isnan(b) ? b : std::max(a, b);
    case min:
      return std::isnan(a) ? a : std::isnan(b) ? b : std::min(a, b);
    case where:
      return a != 0 ? b : c;
    case lt:
      return a < b;
    case gt:
      return a > b;
    case ge:
      return a >= b;
    case le:
      return a <= b;
    case eq:
      return a == b;
    case ne:
      return a != b;
    case logical_and:
      return a != 0 && b != 0;
    case logical_or:
      return a != 0 || b != 0;
    case logical_not:
      return a == 0;
    default:
      ADD_FAILURE() << "the oracle lacks " << scalar::info(fn).name;
      return NAN;
  }
}

class Reference {
 public:
  Reference(const Group& group, Sizes symbols) : group_(group), symbols_(std::move(symbols)) {}

  Sizes sizes(const Shape& s) const {
    Sizes out;
    for (const Index& d : s) out.push_back(group_.pool.evaluate(d, symbols_.data()));
    return out;
  }

  std::vector<Tensor> run(const std::vector<Tensor>& inputs) {
    for (const Node& n : group_.nodes) values_.push_back(node(n, inputs));
    std::vector<Tensor> out;
    for (int o : group_.outputs) out.push_back(values_[o]);
    return out;
  }

 private:
  static int64_t at(const Sizes& sizes, const Sizes& index) {
    int64_t p = 0;
    for (size_t i = 0; i < sizes.size(); ++i) p = p * sizes[i] + index[i];
    return p;
  }

  template <class F>
  static void each(const Sizes& sizes, F&& f) {
    Sizes index(sizes.size(), 0);
    for (int64_t n = count(sizes), i = 0; i < n; ++i) {
      f(index, i);
      for (size_t d = sizes.size(); d-- > 0;) {
        if (++index[d] < sizes[d]) break;
        index[d] = 0;
      }
    }
  }

  Tensor node(const Node& n, const std::vector<Tensor>& inputs) {
    const Sizes mine = sizes(n.shape);
    if (n.kind == NodeKind::kInput) return inputs[n.slot];
    Tensor out(count(mine));
    auto operand = [&](size_t k) -> const Tensor& { return values_[n.operands[k]]; };
    auto operand_sizes = [&](size_t k) { return sizes(group_.nodes[n.operands[k]].shape); };
    if (n.kind == NodeKind::kReduce) return reduce(n);
    each(mine, [&](const Sizes& index, int64_t i) {
      switch (n.kind) {
        case NodeKind::kConstant:
          out[i] = n.value;
          break;
        case NodeKind::kIota:
          out[i] = static_cast<double>(index[n.axis]);
          break;
        case NodeKind::kPointwise:
          out[i] = pointwise(n, i);
          break;
        case NodeKind::kCast:
          out[i] = round_to(operand(0)[i], n.dtype);
          break;
        case NodeKind::kReshape:
          out[i] = operand(0)[i];
          break;
        case NodeKind::kBroadcast:
        case NodeKind::kTranspose: {
          Sizes from = operand_sizes(0), source(from.size(), 0);
          for (size_t d = 0; d < n.dims.size(); ++d)
            if (n.dims[d] >= 0) source[n.dims[d]] = index[d];
          out[i] = operand(0)[at(from, source)];
          break;
        }
        case NodeKind::kSlice: {
          Sizes source(index.size());
          for (size_t d = 0; d < index.size(); ++d)
            source[d] = group_.pool.evaluate(n.starts[d], symbols_.data()) +
                        group_.pool.evaluate(n.steps[d], symbols_.data()) * index[d];
          out[i] = operand(0)[at(operand_sizes(0), source)];
          break;
        }
        case NodeKind::kGather: {
          const size_t rank = operand_sizes(1).size();
          Sizes row(index.begin() + n.axis, index.begin() + n.axis + rank),
              source(index.begin(), index.begin() + n.axis);
          source.push_back(static_cast<int64_t>(operand(1)[at(operand_sizes(1), row)]));
          source.insert(source.end(), index.begin() + n.axis + rank, index.end());
          out[i] = operand(0)[at(operand_sizes(0), source)];
          break;
        }
        case NodeKind::kTake: {
          Sizes source = index;
          source[n.axis] = static_cast<int64_t>(operand(1)[i]);
          out[i] = operand(0)[at(operand_sizes(0), source)];
          break;
        }
        case NodeKind::kSize:
          out[i] = static_cast<double>(group_.pool.evaluate(n.starts[0], symbols_.data()));
          break;
        case NodeKind::kConcat: {
          Sizes source = index;
          size_t k = 0;
          while (source[n.axis] >= operand_sizes(k)[n.axis]) source[n.axis] -= operand_sizes(k++)[n.axis];
          out[i] = operand(k)[at(operand_sizes(k), source)];
          break;
        }
        case NodeKind::kPad: {
          Sizes source = index, from = operand_sizes(0);
          bool inside = true;
          for (size_t d = 0; d < index.size(); ++d) {
            source[d] -= group_.pool.evaluate(n.starts[d], symbols_.data());
            inside &= source[d] >= 0 && source[d] < from[d];
          }
          out[i] = inside ? operand(0)[at(from, source)] : n.value;
          break;
        }
        default:
          ADD_FAILURE();
      }
    });
    return out;
  }

  double pointwise(const Node& n, int64_t i) {
    std::vector<double> r;
    for (int x : n.operands) r.push_back(values_[x][i]);
    for (double p : n.params) r.push_back(p);
    for (const auto& f : n.program)
      r.push_back(f.fn == scalar::Fn::constant ? f.imm : apply(f.fn, r[f.a], r[f.b], r[f.c], is_integer(n.compute)));
    return is_float(n.dtype) ? r[n.result_register] : round_to(r[n.result_register], n.dtype);
  }

  Tensor reduce(const Node& n) {
    const Tensor& x = values_[n.operands[0]];
    const Sizes from = sizes(group_.nodes[n.operands[0]].shape), mine = sizes(n.shape);
    double start = 0;
    switch (n.reduce) {
      case ReduceKind::kProd:
      case ReduceKind::kAll:
        start = 1;
        break;
      case ReduceKind::kMax:
        start = -INFINITY;
        break;
      case ReduceKind::kMin:
        start = INFINITY;
        break;
      default:
        break;
    }
    Tensor out(count(mine), start);
    each(from, [&](const Sizes& index, int64_t i) {
      Sizes to;
      for (size_t d = 0; d < index.size(); ++d)
        if (std::find(n.dims.begin(), n.dims.end(), static_cast<int>(d)) == n.dims.end()) to.push_back(index[d]);
      double& o = out[at(mine, to)];
      switch (n.reduce) {
        case ReduceKind::kSum:
          o += x[i];
          break;
        case ReduceKind::kProd:
          o *= x[i];
          break;
        case ReduceKind::kMax:
          o = apply(scalar::Fn::max, o, x[i], 0, false);
          break;
        case ReduceKind::kMin:
          o = apply(scalar::Fn::min, o, x[i], 0, false);
          break;
        case ReduceKind::kAny:
          o = o != 0 || x[i] != 0;
          break;
        case ReduceKind::kAll:
          o = o != 0 && x[i] != 0;
          break;
      }
    });
    return out;
  }

  const Group& group_;
  Sizes symbols_;
  std::vector<Tensor> values_;
};

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
