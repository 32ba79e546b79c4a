// What official_arrays.cc and official_arrays_out.cc share.
#pragma once
#include "dispatch/state.h"
#include "dispatch/trace.h"
#include "pir/op_def.h"

namespace paddle::compile::arrays {

using dispatch::Trace;
using pir::Attribute;
using pir::AttrKind;
using pir::Block;
using pir::Operation;
using pir::Type;
using pir::TypeKind;
using pir::Value;

inline bool is_array(Value v) { return v && v.type().kind() == TypeKind::kTensorArray; }

inline Operation* before(Operation& op, std::string_view name, std::span<const Value> operands,
                         std::span<const Type> types, pir::AttrMap attrs = {}) {
  Operation* fresh = Operation::create(pir::op_def(name), operands, std::move(attrs), types, 0, op.loc());
  op.block()->insert(&op, fresh);
  for (size_t i = 0; i < fresh->num_results() && i < op.num_results(); ++i)
    fresh->result(i).set_stop_gradient(op.result(i).stop_gradient());
  return fresh;
}

inline Operation* one_before(Operation& op, std::string_view name, std::initializer_list<Value> operands, Type type,
                             pir::AttrMap attrs = {}) {
  return before(op, name, {operands.begin(), operands.size()}, {&type, 1}, std::move(attrs));
}

template <class Conversion>
void convert(pir::Program& program) {
  Trace trace("official", std::move(program));
  {
    dispatch::StackScope scope(&trace);
    dispatch::GradMode off(false);
    Conversion conversion(trace);
    conversion.program(trace.program().block());
  }
  program = trace.take_program();
}

inline bool any(const pir::Program& program, std::string_view prefix) {
  bool found = false;
  program.walk([&](const Operation& op) { found |= op.name().starts_with(prefix); });
  return found;
}

}  // namespace paddle::compile::arrays
