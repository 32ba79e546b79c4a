// Lists and stacks of tensors on their way from one program to another: one tensor whose payload they are.
#pragma once
#include "api/op_call.h"

namespace paddle::executor {

class Bundle final : public Payload {
 public:
  // A stack's entries, oldest first; a list is one entry of one value.
  std::vector<std::vector<OutSlot>> items;
};

inline Tensor bundled(std::vector<std::vector<OutSlot>> items) {
  Tensor t(TensorImpl::make());
  Ref<Bundle> b = make_ref<Bundle>();
  b->items = std::move(items);
  t->payload = std::move(b);
  return t;
}

inline Bundle* find_bundle(const Tensor& t) { return dynamic_cast<Bundle*>(t->payload.get()); }
inline const Bundle& bundle_of(const Tensor& t) {
  Bundle* b = find_bundle(t);
  PD_INVARIANT(b != nullptr);
  return *b;
}

// The tensor itself, or each one in the bundle that it is.
template <class F>
void for_each_held(Tensor& t, F&& f) {
  Bundle* b = find_bundle(t);
  if (!b) return f(t);
  for (auto& entry : b->items)
    for (OutSlot& s : entry) {
      if (s.tensor.defined()) f(s.tensor);
      for (Tensor& item : s.list)
        if (item.defined()) f(item);
    }
}

}  // namespace paddle::executor
