#include "on_devices.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "cinn/codegen/c_like/print.h"
#include "cinn/jit/device.h"
#include "cinn/lower.h"
#include "device/registry.h"
#include "reference.h"

namespace paddle::cinn::testing {
namespace {

bool in_slice(const Group& group) {
  const char* slice = std::getenv("PADDLE_TEST_SLICE");
  size_t i = 0, n = 1;
  if (slice) EXPECT_EQ(std::sscanf(slice, "%zu/%zu", &i, &n), 2) << "PADDLE_TEST_SLICE: expected <i>/<n>";
  return n == 0 || std::hash<std::string>{}(group.str()) % n == i % n;
}

// -- NVRTC, opened lazily: a toolkit need not be there

struct Nvrtc {
  using Program = struct Opaque*;
  int (*create)(Program*, const char* source, const char* name, int, const char* const*, const char* const*) = nullptr;
  int (*compile)(Program, int, const char* const* options) = nullptr;
  int (*log_size)(Program, size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*destroy)(Program*) = nullptr;

  Nvrtc() {
    void* library = nullptr;
    for (const char* name : {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so"})
      if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    auto find = [&](auto& fn, const char* name) {
      fn = reinterpret_cast<std::decay_t<decltype(fn)>>(dlsym(library, name));
    };
    find(compile, "nvrtcCompileProgram");
    find(log_size, "nvrtcGetProgramLogSize");
    find(log, "nvrtcGetProgramLog");
    find(destroy, "nvrtcDestroyProgram");
    find(create, "nvrtcCreateProgram");
  }
};

Target cuda_target() {
  Target t;
  t.group_size = cuda_dialect().group_size;
  t.threads = 4 * 108;
  t.streaming = false;
  return t;
}

void check_nvrtc(const Group& group) {
  static const Nvrtc nvrtc;
  if (!nvrtc.create) GTEST_SKIP() << "there is no NVRTC here";
  const std::string source = print_c(lower(group, cuda_target()), dialect_of(cuda_dialect()));
  Nvrtc::Program program = nullptr;
  ASSERT_EQ(nvrtc.create(&program, source.c_str(), "group.cu", 0, nullptr, nullptr), 0);
  const char* const options[] = {"--gpu-architecture=compute_80"};
  const int status = nvrtc.compile(program, 1, options);
  std::string log;
  if (status != 0) {
    size_t size = 0;
    nvrtc.log_size(program, &size);
    log.resize(size);
    nvrtc.log(program, log.data());
  }
  nvrtc.destroy(&program);
  EXPECT_EQ(status, 0) << log << source;
}

// -- a plugin's device

Place plugin_place() {
  static const Place place{device::load_plugin(std::getenv("PADDLE_DEVICE_PLUGIN")), 0};
  return place;
}

class DeviceMemory {
 public:
  DeviceMemory(Place place, size_t bytes) : place_(place) {
    device::check_status(device::table(place).allocate(place.index, bytes, &data_), place, "allocate");
  }
  ~DeviceMemory() { device::table(place_).deallocate(place_.index, data_, 0); }
  DeviceMemory(const DeviceMemory&) = delete;
  void* data() const { return data_; }

 private:
  Place place_;
  void* data_ = nullptr;
};

void check_plugin(const Group& group, const std::vector<int64_t>& symbols, const std::vector<Tensor>& inputs,
                  const std::vector<Tensor>& want) {
  const Place place = plugin_place();
  if (device::count(place.kind) == 0) GTEST_SKIP() << "the plugin finds no device here";
  auto batch = std::make_shared<DeviceBatch>(place);
  auto code = compile_for_device(group, batch);
  std::vector<std::unique_ptr<DeviceMemory>> memory;
  std::vector<const void*> in;
  std::vector<void*> out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const DType t = group.nodes[group.inputs[i]].dtype;
    std::vector<uint8_t> bytes(inputs[i].size() * size_of(t));
    for (size_t k = 0; k < inputs[i].size(); ++k) write(bytes, static_cast<int64_t>(k), t, inputs[i][k]);
    memory.push_back(std::make_unique<DeviceMemory>(place, bytes.size()));
    device::copy(memory.back()->data(), place, bytes.data(), Place::cpu(), bytes.size());
    in.push_back(memory.back()->data());
  }
  for (size_t i = 0; i < want.size(); ++i) {
    memory.push_back(
        std::make_unique<DeviceMemory>(place, want[i].size() * size_of(group.nodes[group.outputs[i]].dtype)));
    out.push_back(memory.back()->data());
  }
  code->run(in, out, symbols);
  for (size_t i = 0; i < want.size(); ++i) {
    const DType t = group.nodes[group.outputs[i]].dtype;
    std::vector<uint8_t> bytes(want[i].size() * size_of(t));
    device::copy(bytes.data(), Place::cpu(), out[i], place, bytes.size());
    Tensor got;
    for (size_t k = 0; k < want[i].size(); ++k) got.push_back(read(bytes, static_cast<int64_t>(k), t));
    Tolerance tolerance = tolerance_of(t);
    tolerance.relative *= 4;  // sums in another order, the device's own mathematics
    tolerance.absolute *= 4;
    expect_close(got, want[i], tolerance, "output " + std::to_string(i) + " on " + to_string(place));
    if (::testing::Test::HasFatalFailure()) {
      ADD_FAILURE() << code->module().str() << batch->source();
      return;
    }
  }
}

}  // namespace

void check_on_devices(const Group& group, const std::vector<int64_t>& symbols, const std::vector<Tensor>& inputs,
                      const std::vector<Tensor>& want) {
  const bool nvrtc = std::getenv("PADDLE_TEST_NVRTC"), plugin = std::getenv("PADDLE_DEVICE_PLUGIN");
  if ((!nvrtc && !plugin) || !in_slice(group)) return;
  if (nvrtc) check_nvrtc(group);
  if (plugin) check_plugin(group, symbols, inputs, want);
}

}  // namespace paddle::cinn::testing
