// Block: a list of operations that ends, inside regions of operations, with a terminator; and arguments.
#pragma once
#include <memory>
#include <vector>

#include "pir/value.h"

namespace paddle::pir {

class Region;
class Operation;

class Block {
 public:
  Block() = default;
  Block(const Block&) = delete;
  ~Block();

  Region* region() const { return region_; }
  Operation* parent_op() const;
  bool is_ancestor_of(const Operation* op) const;  // op lies in this block or deeper

  // Arguments
  size_t num_args() const { return args_.size(); }
  Value arg(size_t i) const { return Value(args_[i].get()); }
  std::vector<Value> args() const;
  Value add_arg(Type type, AttrMap attrs = {});
  Value insert_arg(size_t i, Type type, AttrMap attrs = {});
  void erase_arg(size_t i);  // InternalError if it is used
  const AttrMap& arg_attrs(size_t i) const { return args_[i]->attributes; }
  AttrMap& arg_attrs(size_t i) { return args_[i]->attributes; }

  // Operations. Iterating is safe while the current operation is erased if the next is taken first.
  bool empty() const { return first_ == nullptr; }
  Operation* front() const { return first_; }
  Operation* back() const { return last_; }
  size_t size() const { return size_; }
  Operation* terminator() const;  // null if the last operation isn't one
  void push_back(Operation* op) { insert(nullptr, op); }
  void push_front(Operation* op) { insert(first_, op); }
  void insert(Operation* before, Operation* op);  // before == null: at the end. Takes ownership
  Operation* remove(Operation* op);               // gives ownership back
  void clear();                                   // destroys all operations

  class Iterator {
   public:
    using value_type = Operation;
    using difference_type = std::ptrdiff_t;
    explicit Iterator(Operation* op = nullptr);
    Operation& operator*() const { return *op_; }
    Operation* operator->() const { return op_; }
    Iterator& operator++();
    bool operator==(const Iterator& o) const { return op_ == o.op_; }

   private:
    Operation* op_ = nullptr;
    Operation* next_ = nullptr;  // taken ahead, so that the current one may be erased
  };
  Iterator begin() const { return Iterator(first_); }
  Iterator end() const { return Iterator(); }
  std::vector<Operation*> ops() const;  // a copy of the list

  void renumber() const;  // makes order numbers valid
  bool numbered() const { return numbered_; }

 private:
  friend class Region;
  friend class Operation;
  Region* region_ = nullptr;
  Operation* first_ = nullptr;
  Operation* last_ = nullptr;
  size_t size_ = 0;
  mutable bool numbered_ = false;
  std::vector<std::unique_ptr<ArgumentImpl>> args_;
};

}  // namespace paddle::pir
