// Between records' arguments (api/op_call.h) and operations: the attribute that holds an argument, the arguments that
// an operation holds, and result types by the record's shape rule.
#pragma once
#include <functional>
#include <memory>

#include "api/op_call.h"
#include "pir/operation.h"

namespace paddle::pir {

// The attribute that holds an argument of a kind that isn't an operand. Null for none.
Attribute to_attribute(const ArgInfo& info, const Arg& arg);
// The attribute of a record's default text; null for "None". InternalError if the text isn't of the argument's kind.
Attribute default_attribute(const ArgInfo& info);

// What is known at compile time of a value that full, full_int_array or a combine of them makes: an IntArray (perhaps
// with symbolic items) or a Scalar. Null if not known.
Attribute known_value(Value v);

// Whether an argument is an operand in PIR.
inline bool is_operand(const ArgInfo& a) {
  return is_tensor_kind(a.kind) || ((a.kind == ArgKind::kScalar || a.kind == ArgKind::kInts) && a.operand);
}

// The arguments of one operation, with the storage they borrow from. Operands become tensors through `tensor_of`; a
// list (vector type) through OutSlot::list. Scalar and Ints operands whose value is known (known_value) become
// constants.
class BoundArgs {
 public:
  using TensorOf = std::function<OutSlot(Value)>;
  BoundArgs(const OpDef& def, std::span<const Value> operands, const AttrMap& attrs, const TensorOf& tensor_of);
  BoundArgs(const Operation& op, const TensorOf& tensor_of);
  ~BoundArgs();
  BoundArgs(const BoundArgs&) = delete;

  std::span<Arg> args() { return args_; }

 private:
  struct Store;
  void bind_operand(size_t arg, Value v, const TensorOf& tensor_of);
  void bind_attribute(size_t arg, const Attribute& a);
  const OpDef& def_;
  std::unique_ptr<Store> store_;
  std::vector<Arg> args_;
};

// Result types of an operator with a record. Typed errors name the operator.
std::vector<Type> infer_record_types(const OpDef& def, std::span<const Value> operands, const AttrMap& attrs);

}  // namespace paddle::pir
