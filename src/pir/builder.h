// Builder: makes operations at an insertion point, with the location of the current scope.
#pragma once
#include "pir/operation.h"
#include "pir/program.h"

namespace paddle::pir {

// Told of every operation that a builder inserts.
class BuildListener {
 public:
  virtual void created(Operation* op) = 0;

 protected:
  ~BuildListener() = default;
};

class Builder {
 public:
  Builder() = default;  // no insertion point: create() makes detached operations
  explicit Builder(Block* block, Location loc = {}) : loc_(loc) { to_end(block); }
  explicit Builder(Program& program, Location loc = {}) : Builder(&program.block(), loc) {}

  void to_end(Block* block) { block_ = block, before_ = nullptr; }
  void to_start(Block* block);
  void before(Operation* op);
  void after(Operation* op);
  Block* block() const { return block_; }
  Operation* insertion_point() const { return before_; }  // operations go before it; null: at the block's end

  Location loc() const { return loc_; }
  void set_loc(Location loc) { loc_ = loc; }
  void set_listener(BuildListener* listener) { listener_ = listener; }

  // Result types given. The verifier has the last word on them.
  Operation* create(const OpDef& def, std::span<const Value> operands, AttrMap attrs, std::span<const Type> results,
                    size_t num_regions = 0);
  // Result types inferred by the operation's table; missing attributes that have a default in the record are filled in.
  // Errors of the user's (shapes that don't fit, ...) are typed and name the operation.
  Operation* create(const OpDef& def, std::span<const Value> operands, AttrMap attrs = {});
  Operation* create(std::string_view name, std::initializer_list<Value> operands, AttrMap attrs = {}) {
    return create(op_def(name), std::span<const Value>(operands.begin(), operands.size()), std::move(attrs));
  }
  Operation* create(std::string_view name, std::initializer_list<Value> operands, AttrMap attrs,
                    std::initializer_list<Type> results, size_t num_regions = 0) {
    return create(op_def(name), std::span<const Value>(operands.begin(), operands.size()), std::move(attrs),
                  std::span<const Type>(results.begin(), results.size()), num_regions);
  }
  Value value(std::string_view name, std::initializer_list<Value> operands, AttrMap attrs = {}) {
    return create(name, operands, std::move(attrs))->result(0);
  }

  // The operations that programs are glued together with.
  Value parameter(std::string_view name, Type type, bool trainable = true);
  Operation* set_parameter(std::string_view name, Value value);
  Operation* shadow_output(std::string_view name, Value value);
  Value combine(std::span<const Value> values);
  std::vector<Value> split(Value list);
  Operation* yield(std::span<const Value> values);
  Value constant(DenseData data);  // builtin.constant
  Value data(std::string_view name, Type type);
  Value full(const Shape& shape, double value, DType dtype);
  Value full_int_array(std::span<const int64_t> values, DType dtype = DType::kInt64);
  Operation* fetch(std::string_view name, Value value, int column);
  // Empty regions with one block each; fill them with builders of their own, ending in yield().
  Operation* if_op(Value condition, std::span<const Type> results);
  Operation* while_op(Value condition, std::span<const Value> loop_vars);  // block arguments as loop_vars

 private:
  void place(Operation* op);
  Block* block_ = nullptr;
  Operation* before_ = nullptr;
  Location loc_;
  BuildListener* listener_ = nullptr;
};

// For the life of the scope the builder has another location; insertion points likewise.
class LocationScope {
 public:
  LocationScope(Builder& b, Location loc) : builder_(b), old_(b.loc()) { b.set_loc(loc); }
  ~LocationScope() { builder_.set_loc(old_); }
  LocationScope(const LocationScope&) = delete;

 private:
  Builder& builder_;
  Location old_;
};

class InsertionGuard {
 public:
  explicit InsertionGuard(Builder& b) : builder_(b), block_(b.block()), before_(b.insertion_point()) {}
  ~InsertionGuard() {
    if (before_)
      builder_.before(before_);
    else
      builder_.to_end(block_);
  }
  InsertionGuard(const InsertionGuard&) = delete;

 private:
  Builder& builder_;
  Block* block_;
  Operation* before_;
};

}  // namespace paddle::pir
