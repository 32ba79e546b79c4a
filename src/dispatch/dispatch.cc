#include "dispatch/dispatch.h"

#include "api/call.h"
#include "dispatch/eager.h"
#include "dispatch/state.h"

namespace paddle::dispatch {

void (*record_call)(OpCall& c) = nullptr;
void (*dist_call)(OpCall& c) = nullptr;

namespace {

uint8_t input_bits(const OpCall& c) {
  uint8_t bits = 0;
  c.for_each_tensor([&](const Tensor& t) { bits |= t->bits; });
  return bits;
}

// The meaning of a call when nothing is pushed: autograd over dist over eager, each only where an input asks for it.
void default_call(OpCall& c) {
  uint8_t bits = input_bits(c);
  if (bits & kTraced) [[unlikely]]
    fail(ErrorKind::kRuntime, "[{}] got a tensor of a captured program outside of that program's capture", c.op.name);
  if ((bits & kNeedsGrad) && state().grad_enabled)
    record_call(c);
  else if (bits & kDist) [[unlikely]]
    dist_call(c);
  else
    run_eager(c);
}

}  // namespace

void call(OpCall& c) {
  ThreadState& s = state();
  if (s.depth == 0) [[likely]]
    return default_call(c);
  size_t at = s.depth - 1;
  s.stack[at]->call(c, at);
}

void call_below(OpCall& c, size_t next) {
  if (next == 0) return default_call(c);
  state().stack[next - 1]->call(c, next - 1);
}

void push(Interpreter* interpreter) {
  ThreadState& s = state();
  PD_INVARIANT(s.depth < s.stack.size());
  s.stack[s.depth++] = interpreter;
}

void pop(Interpreter* interpreter) {
  ThreadState& s = state();
  PD_INVARIANT(s.depth > 0 && s.stack[s.depth - 1] == interpreter);
  --s.depth;
}

size_t depth() { return state().depth; }

Interpreter* top() {
  ThreadState& s = state();
  return s.depth ? s.stack[s.depth - 1] : nullptr;
}

}  // namespace paddle::dispatch
