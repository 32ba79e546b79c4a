// Value: the result of an operation or an argument of a block, with the list of its uses. One pointer, never owning.
#pragma once
#include <cstddef>
#include <functional>
#include <iterator>

#include "pir/attribute.h"
#include "pir/type.h"

namespace paddle::pir {

class Operation;
class Block;
class Value;
class OpOperand;

// What a Value points to. Results live in the allocation of their operation, arguments in their block.
struct ValueImpl {
  Type type;
  OpOperand* first_use = nullptr;
  void* owner = nullptr;  // Operation* or Block*
  uint32_t index = 0;
  bool is_argument = false;
};

struct ArgumentImpl : ValueImpl {
  AttrMap attributes;  // stop_gradient, persistable, names
};

class UseIterator {
 public:
  using value_type = OpOperand*;
  using difference_type = std::ptrdiff_t;
  UseIterator() = default;
  explicit UseIterator(OpOperand* use) : use_(use) {}
  OpOperand& operator*() const { return *use_; }
  OpOperand* operator->() const { return use_; }
  UseIterator& operator++();
  UseIterator operator++(int) {
    UseIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const UseIterator&) const = default;

 private:
  OpOperand* use_ = nullptr;
};

class Value {
 public:
  constexpr Value() = default;
  constexpr explicit Value(ValueImpl* impl) : impl_(impl) {}

  explicit operator bool() const { return impl_ != nullptr; }
  friend bool operator==(Value a, Value b) { return a.impl_ == b.impl_; }
  size_t hash() const { return std::hash<const void*>()(impl_); }
  ValueImpl* impl() const { return impl_; }

  Type type() const { return impl_->type; }
  void set_type(Type type) const { impl_->type = type; }
  DType dtype() const { return impl_->type.dtype(); }
  const Shape& shape() const { return impl_->type.shape(); }

  bool is_argument() const { return impl_->is_argument; }
  bool is_result() const { return !impl_->is_argument; }
  Operation* defining_op() const {  // null for an argument
    return impl_->is_argument ? nullptr : static_cast<Operation*>(impl_->owner);
  }
  Block* owner_block() const;  // the block that has it as argument, or that holds the operation
  uint32_t index() const { return impl_->index; }

  bool use_empty() const { return impl_->first_use == nullptr; }
  bool has_one_use() const;
  size_t num_uses() const;
  struct Uses {
    OpOperand* first;
    UseIterator begin() const { return UseIterator(first); }
    UseIterator end() const { return {}; }
  };
  // Newest use first. Don't change uses of this value while iterating; take a copy (users()) instead.
  Uses uses() const { return {impl_->first_use}; }
  std::vector<Operation*> users() const;  // each operation once, in order of first use found
  void replace_all_uses_with(Value other) const;
  // Only uses for which the predicate holds.
  void replace_uses_if(Value other, const std::function<bool(OpOperand&)>& pred) const;

  // Facts about one value that Paddle keeps as arrays on its operation ("stop_gradient: [false, true]") or as
  // attributes of a block's argument. Null if nothing is said.
  Attribute attr(std::string_view name) const;
  void set_attr(std::string_view name, Attribute value) const;
  bool stop_gradient() const;  // true where nothing is said, as in Paddle
  void set_stop_gradient(bool stop) const;

 private:
  ValueImpl* impl_ = nullptr;
};

// One operand: a link in the use list of its value.
class OpOperand {
 public:
  OpOperand() = default;
  OpOperand(const OpOperand&) = delete;
  OpOperand& operator=(const OpOperand&) = delete;
  ~OpOperand() { unlink(); }

  Value get() const { return Value(value_); }
  void set(Value value) {
    unlink();
    link(value.impl());
  }
  Operation* owner() const { return owner_; }
  uint32_t index() const;
  OpOperand* next_use() const { return next_; }

 private:
  friend class Operation;
  void link(ValueImpl* value) {
    value_ = value;
    if (!value) return;
    next_ = value->first_use;
    back_ = &value->first_use;
    if (next_) next_->back_ = &next_;
    value->first_use = this;
  }
  void unlink() {
    if (!value_) return;
    *back_ = next_;
    if (next_) next_->back_ = back_;
    value_ = nullptr;
    next_ = nullptr;
    back_ = nullptr;
  }

  ValueImpl* value_ = nullptr;
  Operation* owner_ = nullptr;
  OpOperand* next_ = nullptr;
  OpOperand** back_ = nullptr;
};

inline UseIterator& UseIterator::operator++() {
  use_ = use_->next_use();
  return *this;
}
inline bool Value::has_one_use() const { return impl_->first_use && !impl_->first_use->next_use(); }

}  // namespace paddle::pir

template <>
struct std::hash<paddle::pir::Value> {
  size_t operator()(paddle::pir::Value v) const { return v.hash(); }
};
