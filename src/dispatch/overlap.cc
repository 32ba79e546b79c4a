#include "dispatch/overlap.h"

#include <algorithm>

#include "base/inline_vec.h"
#include "dispatch/eager.h"

namespace paddle::dispatch {
namespace {

struct Range {
  const char *begin = nullptr, *end = nullptr;
  bool empty() const { return begin == end; }
  bool meets(const Range& o) const { return begin < o.end && o.begin < end; }
};

Range range_of(const Tensor& t) {
  if (!t.defined() || !t.is_dense() || !t->storage->data()) return {};
  int64_t low = 0, high = 0;
  for (size_t i = 0; i < t.shape().size(); ++i) {
    const int64_t last = t.shape()[i].value() - 1;
    if (last < 0) return {};
    (t.strides()[i] < 0 ? low : high) += last * t.strides()[i];
  }
  const auto size = static_cast<int64_t>(size_of(t.dtype()));
  const char* first = t.data<char>();
  return {first + low * size, first + (high + 1) * size};
}

bool is_target(const OpCall& c, size_t arg) {
  return std::any_of(c.op.outs.begin(), c.op.outs.end(),
                     [&](const OutInfo& o) { return o.inplace_of == static_cast<int>(arg); });
}

// Where a call writes, by where it begins; `reach` is the furthest end so far.
struct Target {
  Range range;
  const Tensor* tensor;
  const char* reach;
};
using Targets = InlineVec<Target, 4>;

Targets targets_of(const OpCall& c) {
  Targets all;
  for (const OutInfo& o : c.op.outs) {
    if (o.inplace_of < 0) continue;
    for (const Tensor& t : c.args[static_cast<size_t>(o.inplace_of)].tensors_or_empty())
      if (const Range r = range_of(t); !r.empty()) all.push_back({r, &t, r.end});
  }
  if (all.size() < 2) return all;
  std::sort(all.begin(), all.end(), [](const Target& a, const Target& b) { return a.range.begin < b.range.begin; });
  for (size_t i = 1; i < all.size(); ++i) all[i].reach = std::max(all[i - 1].reach, all[i].range.end);
  return all;
}

// Must an operand be read from elsewhere?
bool covered(const Tensor& operand, const Targets& targets, bool elementwise) {
  const Range r = range_of(operand);
  if (r.empty()) return false;
  const Target* after = std::lower_bound(targets.begin(), targets.end(), r.end,
                                         [](const Target& t, const char* end) { return t.range.begin < end; });
  if (after == targets.begin() || (after - 1)->reach <= r.begin) return false;
  return !elementwise || std::any_of(targets.begin(), after, [&](const Target& t) {
    return t.range.meets(r) && !coincide(*t.tensor, operand);
  });
}

Tensor copy_of(const Tensor& t) {
  Tensor copy = Tensor::empty(t.shape(), t.dtype(), t.place());
  copy_into(copy, t);
  return copy;
}

}  // namespace

bool overlap(const Tensor& a, const Tensor& b) { return a.place() == b.place() && range_of(a).meets(range_of(b)); }

bool coincide(const Tensor& a, const Tensor& b) {
  return a.same(b) ||
         (a.data() == b.data() && a.dtype() == b.dtype() && a.shape() == b.shape() && a.strides() == b.strides());
}

void set_operands_apart(OpCall& c) {
  const Targets targets = targets_of(c);
  const bool elementwise = c.op.has(kElementwise);
  auto lies_there = [&](const Tensor& t) { return t.defined() && covered(t, targets, elementwise); };
  for (size_t i = 0; i < c.args.size(); ++i) {
    Arg& a = c.args[i];
    const std::span<const Tensor> given = a.tensors_or_empty();
    if (is_target(c, i) || std::none_of(given.begin(), given.end(), lies_there)) continue;
    if (a.tag() == Arg::Tag::kTensor) {
      a = Arg(c.kept_tensors.emplace_front(copy_of(a.tensor())));
      continue;
    }
    Tensors list;
    for (const Tensor& t : given) list.push_back(lies_there(t) ? copy_of(t) : t);
    a = Arg(c.kept_lists.emplace_front(std::move(list)));
  }
}

}  // namespace paddle::dispatch
