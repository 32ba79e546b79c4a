#include "pir/block.h"

#include "base/error.h"
#include "pir/operation.h"
#include "pir/region.h"

namespace paddle::pir {

Block::~Block() { clear(); }

Operation* Block::parent_op() const { return region_ ? region_->parent_op() : nullptr; }

bool Block::is_ancestor_of(const Operation* op) const {
  for (; op; op = op->parent_op())
    if (op->block() == this) return true;
  return false;
}

std::vector<Value> Block::args() const {
  std::vector<Value> r;
  for (auto& a : args_) r.push_back(Value(a.get()));
  return r;
}

Value Block::add_arg(Type type, AttrMap attrs) { return insert_arg(args_.size(), type, std::move(attrs)); }

Value Block::insert_arg(size_t i, Type type, AttrMap attrs) {
  auto a = std::make_unique<ArgumentImpl>();
  a->type = type;
  a->owner = this;
  a->is_argument = true;
  a->attributes = std::move(attrs);
  Value v(a.get());
  args_.insert(args_.begin() + static_cast<std::ptrdiff_t>(i), std::move(a));
  for (size_t j = i; j < args_.size(); ++j) args_[j]->index = static_cast<uint32_t>(j);
  return v;
}

void Block::erase_arg(size_t i) {
  PD_INVARIANT(i < args_.size() && arg(i).use_empty());
  args_.erase(args_.begin() + static_cast<std::ptrdiff_t>(i));
  for (size_t j = i; j < args_.size(); ++j) args_[j]->index = static_cast<uint32_t>(j);
}

Operation* Block::terminator() const { return last_ && last_->has(kTerminator) ? last_ : nullptr; }

void Block::insert(Operation* before, Operation* op) {
  PD_INVARIANT(op->block_ == nullptr && (!before || before->block_ == this));
  Operation* after = before ? before->prev_ : last_;
  op->block_ = this;
  op->next_ = before;
  op->prev_ = after;
  (after ? after->next_ : first_) = op;
  (before ? before->prev_ : last_) = op;
  ++size_;
  // Appending is what tracing does 10,000 times: it keeps the numbering valid.
  if (before)
    numbered_ = false;
  else
    op->order_ = after ? after->order_ + 1 : 0;
  if (size_ == 1) numbered_ = true;
}

Operation* Block::remove(Operation* op) {
  PD_INVARIANT(op->block_ == this);
  (op->prev_ ? op->prev_->next_ : first_) = op->next_;
  (op->next_ ? op->next_->prev_ : last_) = op->prev_;
  op->next_ = op->prev_ = nullptr;
  op->block_ = nullptr;
  --size_;
  return op;
}

void Block::clear() {
  // Everything lets go first: operations refer to each other in any order.
  for (Operation* op = first_; op; op = op->next_) {
    for (OpOperand& o : op->op_operands()) o.set(Value());
    for (size_t r = 0; r < op->num_regions(); ++r) op->region(r).drop_references();
  }
  while (last_) remove(last_)->destroy();
}

std::vector<Operation*> Block::ops() const {
  std::vector<Operation*> r;
  r.reserve(size_);
  for (Operation* op = first_; op; op = op->next_) r.push_back(op);
  return r;
}

void Block::renumber() const {
  uint64_t n = 0;
  for (Operation* op = first_; op; op = op->next_) op->order_ = n++;
  numbered_ = true;
}

Block::Iterator::Iterator(Operation* op) : op_(op), next_(op ? op->next() : nullptr) {}
Block::Iterator& Block::Iterator::operator++() {
  op_ = next_;
  next_ = op_ ? op_->next() : nullptr;
  return *this;
}

Region::~Region() { clear(); }

Block& Region::add_block() {
  blocks_.push_back(std::make_unique<Block>());
  blocks_.back()->region_ = this;
  return *blocks_.back();
}

void Region::take_blocks(Region& from) {
  for (auto& b : from.blocks_) {
    b->region_ = this;
    blocks_.push_back(std::move(b));
  }
  from.blocks_.clear();
}

void Region::drop_references() {
  for (auto& b : blocks_)
    for (Operation* op = b->front(); op; op = op->next()) {
      for (OpOperand& o : op->op_operands()) o.set(Value());
      for (size_t r = 0; r < op->num_regions(); ++r) op->region(r).drop_references();
    }
}

void Region::clear() {
  drop_references();
  blocks_.clear();
}

}  // namespace paddle::pir
