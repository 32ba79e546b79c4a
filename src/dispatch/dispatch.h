// The one seam: every operator call passes dispatch::call.
//
// What a call means is decided by the thread's stack of interpreters, outermost first:
//     autocast -> autograd -> dist -> eager | trace
// Each handles the call or hands it to the next. Nothing else in the system branches on the mode.
#pragma once
#include "api/op_call.h"

namespace paddle::dispatch {

// Runs one call; afterwards call.outs are set. Declared in api/ so that rules can call operators; see api/call.h.
class Interpreter {
 public:
  virtual ~Interpreter() = default;
  // `next` is what stands below on the stack: call(next, c) continues there.
  virtual void call(OpCall& c, size_t next) = 0;
  virtual const char* name() const = 0;
};

void push(Interpreter* interpreter);  // on this thread
void pop(Interpreter* interpreter);   // InternalError if it is not on top
size_t depth();
Interpreter* top();
void call_below(OpCall& c, size_t next);  // continue with the interpreter at stack index `next` - 1

class Scope {  // pushes for the life of the object
 public:
  explicit Scope(Interpreter* i) : i_(i) { push(i_); }
  ~Scope() { pop(i_); }
  Scope(const Scope&) = delete;

 private:
  Interpreter* i_;
};

}  // namespace paddle::dispatch
