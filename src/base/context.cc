#include "base/context.h"

namespace paddle {
namespace {
thread_local Context* current_context = nullptr;
}

Context& Context::process() {
  static auto* c = new Context;
  return *c;
}

Context& Context::current() { return current_context ? *current_context : process(); }

Context::Use::Use(Context& c) : previous_(current_context) { current_context = &c; }
Context::Use::~Use() { current_context = previous_; }

}  // namespace paddle
