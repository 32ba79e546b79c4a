// The thread's dispatch state. Small, and of the initial-exec kind: it is read on every call.
#pragma once
#include <array>
#include <cstdint>

#include "dispatch/dispatch.h"

namespace paddle::dispatch {

struct ThreadState {
  std::array<Interpreter*, 12> stack{};
  uint8_t depth = 0;  // 0: nothing pushed, the default meaning (autograd over eager)
  bool grad_enabled = true;
  bool decompose = false;  // FLAGS_prim_enable_dynamic: compositions run although there is a kernel
};

// Defined once, in the core library: an inline variable would be another one in the extension module.
extern thread_local constinit ThreadState thread_state
    __attribute__((visibility("default"), tls_model("initial-exec")));

inline ThreadState& state() { return thread_state; }

class GradMode {  // sets whether autograd records, for the life of the object
 public:
  explicit GradMode(bool enabled) : previous_(state().grad_enabled) { state().grad_enabled = enabled; }
  ~GradMode() { state().grad_enabled = previous_; }
  GradMode(const GradMode&) = delete;

 private:
  bool previous_;
};

}  // namespace paddle::dispatch
