#include "pir/value.h"

#include <algorithm>

#include "base/error.h"
#include "pir/operation.h"

namespace paddle::pir {

uint32_t OpOperand::index() const { return static_cast<uint32_t>(this - owner_->op_operands().data()); }

Block* Value::owner_block() const { return is_argument() ? static_cast<Block*>(impl_->owner) : defining_op()->block(); }

size_t Value::num_uses() const {
  size_t n = 0;
  for (UseIterator u(impl_->first_use); u != UseIterator(); ++u) ++n;
  return n;
}

std::vector<Operation*> Value::users() const {
  std::vector<Operation*> r;
  for (OpOperand& use : uses()) {
    // An operation that uses the value twice has its two uses close together most of the time, but not always.
    if (std::find(r.begin(), r.end(), use.owner()) == r.end()) r.push_back(use.owner());
  }
  return r;
}

void Value::replace_all_uses_with(Value other) const {
  PD_INVARIANT(other != *this);
  while (impl_->first_use) impl_->first_use->set(other);
}

void Value::replace_uses_if(Value other, const std::function<bool(OpOperand&)>& pred) const {
  PD_INVARIANT(other != *this);
  for (OpOperand* use = impl_->first_use; use;) {
    OpOperand* next = use->next_use();
    if (pred(*use)) use->set(other);
    use = next;
  }
}

Attribute Value::attr(std::string_view name) const {
  if (is_argument()) return static_cast<ArgumentImpl*>(impl_)->attributes.get(name);
  Attribute list = defining_op()->attr(name);
  if (list.kind() != AttrKind::kArray || index() >= list.items().size()) return {};
  return list.items()[index()];
}

void Value::set_attr(std::string_view name, Attribute value) const {
  if (is_argument()) {
    static_cast<ArgumentImpl*>(impl_)->attributes.set(Name(name), std::move(value));
    return;
  }
  Operation* op = defining_op();
  std::vector<Attribute> items;
  if (Attribute old = op->attr(name); old.kind() == AttrKind::kArray)
    items.assign(old.items().begin(), old.items().end());
  Attribute silent = value.kind() == AttrKind::kBool ? Attribute::boolean(name == "stop_gradient") : Attribute();
  items.resize(op->num_results(), silent);
  items[index()] = std::move(value);
  op->set_attr(Name(name), Attribute::array(items));
}

bool Value::stop_gradient() const {
  Attribute a = attr("stop_gradient");
  return a.kind() != AttrKind::kBool || a.as_bool();
}
void Value::set_stop_gradient(bool stop) const { set_attr("stop_gradient", Attribute::boolean(stop)); }

}  // namespace paddle::pir
