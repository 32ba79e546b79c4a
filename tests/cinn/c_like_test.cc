// The C-like printer: the same module, compiled by the system's C compiler, must agree with the LLVM back end's oracle.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "cinn/codegen/c_like/print.h"
#include "reference.h"

namespace paddle::cinn {
namespace {

using scalar::Fn;
using testing::Sizes;
using testing::Tensor;
constexpr DType f32 = DType::kFloat32;

// Compiles C source to a shared object; null (and a skipped test) without a C compiler.
void* compile_c(const std::string& source) {
  char folder[] = "/tmp/cinn_c_XXXXXX";
  EXPECT_NE(mkdtemp(folder), nullptr);
  const std::string base = std::string(folder) + "/kernel";
  std::ofstream(base + ".c") << source;
  const int status = std::system(
      ("cc -O1 -std=gnu11 -ffp-contract=off -fwrapv -w -shared -fPIC -o " + base + ".so " + base + ".c -lm").c_str());
  void* handle = status == 0 ? dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  EXPECT_NE(handle, nullptr) << source;
  std::remove((base + ".c").c_str());
  std::remove((base + ".so").c_str());
  rmdir(folder);
  return handle;
}

// Calls fn(pointers..., begin, end): up to 10 pointers and no symbols.
void call(void* fn, std::vector<void*> p, int64_t end) {
  auto go = [&]<size_t... I>(std::index_sequence<I...>) {
    reinterpret_cast<void (*)(decltype(static_cast<void>(I), static_cast<void*>(nullptr))..., int64_t, int64_t)>(fn)(
        p[I]..., 0, end);
  };
  switch (p.size()) {
    case 4:
      return go(std::make_index_sequence<4>());
    case 5:
      return go(std::make_index_sequence<5>());
    case 6:
      return go(std::make_index_sequence<6>());
    case 7:
      return go(std::make_index_sequence<7>());
    case 8:
      return go(std::make_index_sequence<8>());
    case 9:
      return go(std::make_index_sequence<9>());
    case 10:
      return go(std::make_index_sequence<10>());
    default:
      FAIL() << p.size();
  }
}

void check_c(const Group& group, std::vector<Tensor> inputs = {}) {
  if (std::system("cc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no C compiler";
  Target target;
  target.threads = 2;
  const Module module = lower(group, target);
  void* handle = compile_c(print_c(module, c_dialect()));
  ASSERT_NE(handle, nullptr);
  if (inputs.empty()) inputs = testing::random_inputs(group, {});
  testing::Reference reference(group, {});
  std::vector<std::vector<uint8_t>> memory;
  std::vector<void*> pointers;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const DType t = group.nodes[group.inputs[i]].dtype;
    memory.emplace_back(inputs[i].size() * size_of(t));
    for (size_t k = 0; k < inputs[i].size(); ++k)
      testing::write(memory.back(), static_cast<int64_t>(k), t, inputs[i][k]);
  }
  for (int o : group.outputs)
    memory.emplace_back(testing::count(reference.sizes(group.nodes[o].shape)) * size_of(group.nodes[o].dtype));
  memory.emplace_back(module.pool.evaluate(module.workspace_bytes, nullptr));
  memory.emplace_back(module.pool.evaluate(module.scratch_bytes, nullptr));
  for (auto& m : memory) pointers.push_back(m.data());
  for (const Kernel& k : module.kernels)
    call(dlsym(handle, k.name.c_str()), pointers, module.pool.evaluate(k.parallel_extent, nullptr));
  auto want = reference.run(inputs);
  for (size_t i = 0; i < want.size(); ++i) {
    const DType t = group.nodes[group.outputs[i]].dtype;
    Tensor got;
    for (size_t k = 0; k < want[i].size(); ++k) {
      got.push_back(testing::read(memory[inputs.size() + i], static_cast<int64_t>(k), t));
      want[i][k] = testing::round_to(want[i][k], t);
    }
    auto tolerance = testing::tolerance_of(t);
    tolerance.relative *= 3;  // sequential sums
    testing::expect_close(got, want[i], tolerance, "output " + std::to_string(i));
  }
  dlclose(handle);
}

Group softmax(const Shape& shape, int axis, DType t) {
  Group g;
  int x = g.input(t, shape);
  int e = g.pointwise(Fn::exp, {g.pointwise(Fn::sub, {x, g.reduce(ReduceKind::kMax, x, {axis}, true, t)}, t)}, t);
  g.output(g.pointwise(Fn::div, {e, g.reduce(ReduceKind::kSum, e, {axis}, true, t)}, t));
  return g;
}

TEST(CLike, Softmax) {
  for (DType t : {f32, DType::kFloat64, DType::kBFloat16, DType::kFloat16}) {
    check_c(softmax({6, 37}, 1, t));
    check_c(softmax({37, 6}, 0, t));
  }
  check_c(softmax({1, 40000}, 1, f32));  // several kernels and temporaries
}

TEST(CLike, IndexMapsAndIntegers) {
  Group g;
  int x = g.input(f32, {9, 40}), rows = g.input(DType::kInt64, {5}), n = g.input(DType::kInt32, {9, 40});
  g.output(g.concat({g.slice(x, {0, 20}, {1, 1}, {9, 20}), g.pad(x, {1, 0}, {9, 41}, -1)}, 1));
  g.output(g.gather(x, rows, 0));
  g.output(g.pointwise(Fn::div, {n, g.pointwise(Fn::sub, {n, g.constant_int(DType::kInt32, 1)}, DType::kInt32)},
                       DType::kInt32));
  g.output(g.reduce(ReduceKind::kAny,
                    g.pointwise(Fn::gt, {n, g.iota(DType::kInt32, {9, 40}, 1)}, DType::kBool, DType::kInt32), {1},
                    false, DType::kBool));
  auto inputs = testing::random_inputs(g, {});
  inputs[1] = {8, 0, 0, 2, 5};
  check_c(g, inputs);
}

// Rows by groups whose threads share out the columns; columns one to a thread.
TEST(CLike, KernelsOfGroupsOfThreads) {
  Target target;
  target.group_size = 64;
  Module module = lower(softmax({6, 370}, 1, f32), target);
  std::string source = print_c(module, dialect_of(cuda_dialect()));
  EXPECT_NE(source.find("extern \"C\" __global__ void kernel0("), std::string::npos) << source;
  EXPECT_NE(source.find("__shared__ float shared_float32[256];"), std::string::npos) << source;
  EXPECT_NE(source.find("__syncthreads();"), std::string::npos) << source;
  EXPECT_TRUE(module.kernels[0].by_group);
  module = lower(softmax({370, 6000}, 0, f32), target);
  EXPECT_FALSE(module.kernels[0].by_group);
  EXPECT_EQ(print_c(module, dialect_of(cuda_dialect())).find("__shared__"), std::string::npos);
}

}  // namespace
}  // namespace paddle::cinn
