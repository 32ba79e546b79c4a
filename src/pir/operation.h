// Operation: one class for all. Memory: [Operation | results | regions | operands] in a single allocation; operands
// move to one of their own if their number grows.
#pragma once
#include <memory>
#include <span>

#include "pir/attribute.h"
#include "pir/location.h"
#include "pir/op_def.h"
#include "pir/region.h"
#include "pir/value.h"

namespace paddle::pir {

class Operation {
 public:
  // A detached operation. A null Value is an absent optional operand. Whoever inserts it into a block gives ownership
  // to the block; destroy() frees one that never was inserted. No verification, no inference: see Builder.
  static Operation* create(const OpDef& def, std::span<const Value> operands, AttrMap attrs,
                           std::span<const Type> results, size_t num_regions, Location loc);
  // InternalError if a result still has uses.
  void destroy();
  void erase();  // unlink from the block, then destroy

  const OpDef& def() const { return *def_; }
  const OpInfo* info() const { return def_->info; }
  std::string_view name() const { return def_->name; }
  bool is(std::string_view name) const { return def_->name == name; }
  bool has(uint64_t trait) const { return def_->traits & trait; }
  template <class I>
  const I* interface() const {
    return def_->interface<I>();
  }
  Location loc() const { return loc_; }
  void set_loc(Location loc) { loc_ = loc; }

  size_t num_operands() const { return num_operands_; }
  Value operand(size_t i) const { return operands_[i].get(); }
  Value operand(std::string_view name) const;  // null if absent; InternalError if the op has no such operand
  void set_operand(size_t i, Value v) { operands_[i].set(v); }
  OpOperand& op_operand(size_t i) { return operands_[i]; }
  std::span<OpOperand> op_operands() { return {operands_, num_operands_}; }
  std::span<const OpOperand> op_operands() const { return {operands_, num_operands_}; }
  std::vector<Value> operands() const;
  void set_operands(std::span<const Value> values);  // any number
  void append_operand(Value v);
  void erase_operand(size_t i);

  size_t num_results() const { return num_results_; }
  Value result(size_t i = 0) const { return Value(&results()[i]); }
  std::vector<Value> results_vector() const;
  bool results_unused() const;

  size_t num_regions() const { return num_regions_; }
  Region& region(size_t i) const { return regions()[i]; }

  const AttrMap& attrs() const { return attrs_; }
  Attribute attr(std::string_view name) const { return attrs_.get(name); }  // null if absent
  bool has_attr(std::string_view name) const { return attrs_.has(name); }
  void set_attr(Name name, Attribute value) { attrs_.set(name, std::move(value)); }
  void erase_attr(std::string_view name) { attrs_.erase(name); }
  void set_attrs(AttrMap attrs) { attrs_ = std::move(attrs); }

  Block* block() const { return block_; }
  Operation* parent_op() const;  // that owns the region that holds this
  Operation* next() const { return next_; }
  Operation* prev() const { return prev_; }
  bool is_ancestor_of(const Operation* other) const;  // or the same
  bool is_before(const Operation* other) const;       // in the same block
  void move_before(Operation* other);
  void move_after(Operation* other);
  void move_to_end(Block* block);

  // Visits this operation and all inside its regions, outer first. The callback may erase the operation it is given
  // only if it has no regions left to visit (post order: inner first, may erase).
  void walk(const std::function<void(Operation&)>& f);
  void walk_post(const std::function<void(Operation&)>& f);

  // "[pd_op.softmax] (model.py:31)": the start of an error message about this operation.
  std::string describe() const;

 private:
  friend class Block;
  Operation() = default;
  ~Operation() = default;
  ValueImpl* results() const { return reinterpret_cast<ValueImpl*>(const_cast<Operation*>(this) + 1); }
  Region* regions() const { return reinterpret_cast<Region*>(results() + num_results_); }
  OpOperand* inline_operands() const { return reinterpret_cast<OpOperand*>(regions() + num_regions_); }
  void grow_operands(size_t capacity);

  const OpDef* def_ = nullptr;
  Location loc_;
  AttrMap attrs_;
  Block* block_ = nullptr;
  Operation* next_ = nullptr;
  Operation* prev_ = nullptr;
  OpOperand* operands_ = nullptr;
  uint32_t num_operands_ = 0, operand_capacity_ = 0;
  uint32_t num_results_ = 0, num_regions_ = 0;
  mutable uint64_t order_ = 0;  // position in the block, where the block says its numbering is valid
};

}  // namespace paddle::pir
