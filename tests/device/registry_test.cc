// Plugins: what loading one does, and what it says when that fails.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"
#include "device/registry.h"
#include "tests/paths.h"

namespace paddle::device {
namespace {

std::string plugin_folder() { return std::string(test::kBuildFolder) + "/tests/device/plugins"; }
std::string path_of(const std::string& plugin) { return plugin_folder() + "/" + plugin + ".so"; }

std::string failure(const std::string& path, ErrorKind kind) {
  try {
    load_plugin(path);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    return e.what();
  }
  ADD_FAILURE() << path << " was accepted";
  return {};
}

void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

TEST(Plugin, BadOnesAreNamedWithWhatIsWrong) {
  expect_in(failure("/nowhere/x.so", ErrorKind::kOS), "/nowhere/x.so");
  expect_in(failure(path_of("wrong_version"), ErrorKind::kValue), "expected version 1 of the device API, got 2");
  expect_in(failure(path_of("no_fill"), ErrorKind::kValue), "'no_fill' lacks the required function 'fill'");
  expect_in(failure(path_of("half_a_compiler"), ErrorKind::kValue), "'half_a_compiler' has some of dialect");
  expect_in(failure(path_of("refuses"), ErrorKind::kRuntime), "failed to start: no such bus");
  for (const std::string& kind : kinds()) EXPECT_NE(kind, "no_fill");
}

uint8_t announced = 0;
std::string kernel;

TEST(Plugin, AGoodOneIsAKindOfDevice) {
  on_register([](uint8_t kind) { announced = kind; });
  set_kernel_registrar([](uint8_t kind, const char* op, PdKernelFn fn) {
    kernel = std::string(table(kind).kind) + " " + op + (fn ? "" : " null");
  });
  uint8_t kind = load_plugin(path_of("good"));
  EXPECT_EQ(announced, kind);
  EXPECT_EQ(kernel, "good abs");
  EXPECT_EQ(count(kind), 2);
  EXPECT_EQ(to_string(Place{kind, 1}), "good:1");
  EXPECT_EQ(place_from_string("good:1"), (Place{kind, 1}));
  EXPECT_THROW(place_from_string("good:2"), Error);
  EXPECT_FALSE(has_compiler(table(kind)));
  expect_in(failure(path_of("good"), ErrorKind::kValue), "registered already");
  float from[3] = {1, 2, 3}, to[3] = {};
  void* there = nullptr;
  ASSERT_EQ(table(kind).allocate(0, sizeof from, &there).code, PD_OK);
  copy(there, Place{kind, 0}, from, Place::cpu(), sizeof from);
  copy(to, Place::cpu(), there, Place{kind, 0}, sizeof to);
  EXPECT_EQ(to[2], 3);
  table(kind).deallocate(0, there, sizeof from);
}

TEST(Plugin, ATableOfAnOlderHeaderLacksWhatCameLater) {
  static PdDevice d = table(uint8_t{0});
  d.kind = "older";
  d.size = offsetof(PdDevice, allocate_pinned);
  d.copy_peer = [](int32_t, int32_t, PdStream, void*, const void*, size_t) { return PdStatus{PD_OK, nullptr}; };
  uint8_t kind = register_device(d);
  EXPECT_EQ(table(kind).copy_peer, nullptr);
  d.kind = "too_short";
  d.size = offsetof(PdDevice, fill);
  EXPECT_THROW(register_device(d), Error);
}

// In a process of its own: the environment is read once.
TEST(PluginDeathTest, TheEnvironmentNamesFolders) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("CUSTOM_DEVICE_ROOT", plugin_folder().c_str(), 1);
        bool found = place_from_string("good").kind > 1;
        std::string text;
        try {
          place_from_string("no_fill");
        } catch (const Error& e) {
          text = e.what();
        }
        found = found && text.find("unknown device 'no_fill'") != std::string::npos;
        found = found && text.find("lacks the required function 'fill'") != std::string::npos;
        std::exit(found ? 7 : 1);
      },
      ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace paddle::device
