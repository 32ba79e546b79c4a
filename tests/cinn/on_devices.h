// The test suite's groups on other back ends, where the environment asks for it:
//   PADDLE_TEST_NVRTC=1            NVRTC compiles their CUDA C (no GPU is needed)
//   PADDLE_DEVICE_PLUGIN=<path>    they run on that plugin's device 0 and must give the oracle's values
// PADDLE_TEST_SLICE=<i>/<n> takes every n-th group, by a hash of it.
#pragma once
#include <string>
#include <vector>

#include "cinn/compute/group.h"

namespace paddle::cinn::testing {

using Tensor = std::vector<double>;

// Failures are reported to GoogleTest.
void check_on_devices(const Group& group, const std::vector<int64_t>& symbols, const std::vector<Tensor>& inputs,
                      const std::vector<Tensor>& want);

}  // namespace paddle::cinn::testing
