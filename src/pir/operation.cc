#include "pir/operation.h"

#include <new>

#include "base/error.h"
#include "pir/destroy_hook.h"

namespace paddle::pir {

static_assert(sizeof(Operation) % alignof(ValueImpl) == 0 && sizeof(ValueImpl) % alignof(Region) == 0 &&
              sizeof(Region) % alignof(OpOperand) == 0);

Operation* Operation::create(const OpDef& def, std::span<const Value> operands, AttrMap attrs,
                             std::span<const Type> results, size_t num_regions, Location loc) {
  size_t bytes = sizeof(Operation) + results.size() * sizeof(ValueImpl) + num_regions * sizeof(Region) +
                 operands.size() * sizeof(OpOperand);
  auto* op = new (::operator new(bytes)) Operation;
  op->def_ = &def;
  op->loc_ = loc;
  op->attrs_ = std::move(attrs);
  op->num_results_ = static_cast<uint32_t>(results.size());
  op->num_regions_ = static_cast<uint32_t>(num_regions);
  op->num_operands_ = op->operand_capacity_ = static_cast<uint32_t>(operands.size());
  for (uint32_t i = 0; i < op->num_results_; ++i) new (op->results() + i) ValueImpl{results[i], nullptr, op, i, false};
  for (uint32_t i = 0; i < op->num_regions_; ++i) (new (op->regions() + i) Region)->parent_ = op;
  op->operands_ = op->inline_operands();
  for (uint32_t i = 0; i < op->num_operands_; ++i) {
    auto* o = new (op->operands_ + i) OpOperand;
    o->owner_ = op;
    o->link(operands[i].impl());
  }
  return op;
}

std::atomic<void (*)(const Operation*)> destroy_hook{nullptr};

void Operation::destroy() {
  PD_INVARIANT(block_ == nullptr);
  if (auto* told = destroy_hook.load(std::memory_order_relaxed)) told(this);
  // Uses inside its own regions go first: they may name its results only by mistake, but a half-built program has
  // mistakes.
  for (uint32_t i = 0; i < num_regions_; ++i) regions()[i].~Region();
  for (uint32_t i = 0; i < num_operands_; ++i) operands_[i].~OpOperand();
  for (uint32_t i = 0; i < num_results_; ++i)
    if (results()[i].first_use) throw InternalError(describe() + ": destroyed while its results are used");
  if (operands_ != inline_operands()) ::operator delete(operands_);
  this->~Operation();
  ::operator delete(this);
}

void Operation::erase() {
  // Checked before anything is undone, so that a mistake leaves the program whole.
  if (!results_unused()) throw InternalError(describe() + ": erased while its results are used");
  if (block_) block_->remove(this);
  destroy();
}

Value Operation::operand(std::string_view name) const {
  int i = def_->operand_index(name);
  if (i < 0) throw InternalError(fmt::format("{} has no operand named {}", describe(), name));
  return static_cast<size_t>(i) < num_operands_ ? operand(static_cast<size_t>(i)) : Value();
}

std::vector<Value> Operation::operands() const {
  std::vector<Value> r;
  r.reserve(num_operands_);
  for (uint32_t i = 0; i < num_operands_; ++i) r.push_back(operands_[i].get());
  return r;
}

void Operation::grow_operands(size_t capacity) {
  if (capacity <= operand_capacity_) return;
  capacity = std::max<size_t>(capacity, 2 * operand_capacity_);
  auto* fresh = static_cast<OpOperand*>(::operator new(capacity * sizeof(OpOperand)));
  for (uint32_t i = 0; i < num_operands_; ++i) {
    auto* o = new (fresh + i) OpOperand;
    o->owner_ = this;
    o->link(operands_[i].get().impl());
    operands_[i].~OpOperand();
  }
  if (operands_ != inline_operands()) ::operator delete(operands_);
  operands_ = fresh;
  operand_capacity_ = static_cast<uint32_t>(capacity);
}

void Operation::append_operand(Value v) {
  grow_operands(num_operands_ + 1);
  auto* o = new (operands_ + num_operands_++) OpOperand;
  o->owner_ = this;
  o->link(v.impl());
}

void Operation::erase_operand(size_t i) {
  PD_INVARIANT(i < num_operands_);
  for (size_t j = i + 1; j < num_operands_; ++j) operands_[j - 1].set(operands_[j].get());
  operands_[--num_operands_].~OpOperand();
}

void Operation::set_operands(std::span<const Value> values) {
  while (num_operands_ > values.size()) erase_operand(num_operands_ - 1);
  for (size_t i = 0; i < num_operands_; ++i) set_operand(i, values[i]);
  grow_operands(values.size());
  for (size_t i = num_operands_; i < values.size(); ++i) append_operand(values[i]);
}

std::vector<Value> Operation::results_vector() const {
  std::vector<Value> r;
  r.reserve(num_results_);
  for (uint32_t i = 0; i < num_results_; ++i) r.push_back(result(i));
  return r;
}

bool Operation::results_unused() const {
  for (uint32_t i = 0; i < num_results_; ++i)
    if (results()[i].first_use) return false;
  return true;
}

Operation* Operation::parent_op() const { return block_ ? block_->parent_op() : nullptr; }

bool Operation::is_ancestor_of(const Operation* other) const {
  for (; other; other = other->parent_op())
    if (other == this) return true;
  return false;
}

bool Operation::is_before(const Operation* other) const {
  PD_INVARIANT(block_ && block_ == other->block_);
  if (!block_->numbered()) block_->renumber();
  return order_ < other->order_;
}

void Operation::move_before(Operation* other) {
  if (other == this) return;
  if (block_) block_->remove(this);
  other->block()->insert(other, this);
}
void Operation::move_after(Operation* other) {
  if (other == this) return;
  if (block_) block_->remove(this);
  other->block()->insert(other->next(), this);
}
void Operation::move_to_end(Block* block) {
  if (block_) block_->remove(this);
  block->push_back(this);
}

void Operation::walk(const std::function<void(Operation&)>& f) {
  f(*this);
  for (size_t r = 0; r < num_regions(); ++r)
    for (size_t b = 0; b < region(r).size(); ++b)
      for (Operation& op : region(r).block(b)) op.walk(f);
}

void Operation::walk_post(const std::function<void(Operation&)>& f) {
  for (size_t r = 0; r < num_regions(); ++r)
    for (size_t b = 0; b < region(r).size(); ++b)
      for (Operation& op : region(r).block(b)) op.walk_post(f);
  f(*this);
}

std::string Operation::describe() const {
  return loc_.source() ? fmt::format("[{}] ({})", name(), loc_.str()) : fmt::format("[{}]", name());
}

}  // namespace paddle::pir
