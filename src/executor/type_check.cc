#include "base/error.h"
#include "executor/frame.h"

namespace paddle::executor {
namespace {

[[noreturn]] void refuse(const TypeCheck& c, const Tensor& t, const Frame& frame, const pir::Operation* source) {
  Shape wanted;
  // A symbol that the tensor itself gave its value says nothing.
  for (size_t axis = 0; axis < c.sizes.size(); ++axis) {
    const Dim d = c.sizes[axis];
    const bool own = d.is_symbolic() && axis < t.shape().size() && frame.value(d) == t.size(static_cast<int64_t>(axis));
    wanted.push_back(d == Dim(-1) || own ? Dim(-1) : Dim(frame.value(d)));
  }
  fail(t.dtype() == c.dtype ? ErrorKind::kValue : ErrorKind::kType,
       "{}{}{}: the program expects {} {} (-1: any size), got {} {}", source ? source->describe() : "",
       source ? " " : "", c.what, name_of(c.dtype), to_string(view(wanted)), name_of(t.dtype()),
       to_string(view(t.shape())));
}

}  // namespace

void compare(const std::vector<TypeCheck>& checks, const Frame& frame, const pir::Operation* source) {
  for (const TypeCheck& c : checks) {
    const Tensor& t = frame.tensors[c.slot];
    if (!t.defined()) continue;
    bool same = t.dtype() == c.dtype && t.shape().size() == c.sizes.size();
    for (size_t axis = 0; same && axis < c.sizes.size(); ++axis)
      same = c.sizes[axis] == Dim(-1) || frame.value(c.sizes[axis]) == t.size(static_cast<int64_t>(axis));
    if (!same) [[unlikely]]
      refuse(c, t, frame, source);
  }
}

const SizeAgreement* disagreement(const Instruction& i, const Frame& frame) {
  for (const SizeAgreement& a : i.agreements)
    if (frame.told(a.operand) && frame.told(a.result) && frame.value(a.operand) != frame.value(a.result)) return &a;
  return nullptr;
}

void check_agreements(const Instruction& i, const Frame& frame) {
  if (const SizeAgreement* a = disagreement(i, frame))
    fail(ErrorKind::kValue,
         "{}: the program was made for sizes that are equal, got {} and {} (a size that is 1 and repeated must be 1 "
         "where the program is made)",
         a->op->describe(), frame.value(a->operand), frame.value(a->result));
}

}  // namespace paddle::executor
