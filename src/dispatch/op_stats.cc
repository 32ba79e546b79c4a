#include "dispatch/op_stats.h"

#include <mutex>
#include <utility>

namespace paddle::dispatch {

std::atomic<bool> count_ops{false};

namespace {

std::mutex mutex;
OpStats counts;

DType first_dtype(OpCall& c) {
  for (size_t i = 0; i < c.num_outs(); ++i) {
    if (c.out(i).defined()) return c.out(i).dtype();
    for (const Tensor& t : c.out_list(i))
      if (t.defined()) return t.dtype();
  }
  return DType::kUndefined;
}

StatColumn column_of(DType t) {
  switch (t) {
    case DType::kFloat16:
      return StatColumn::kFloat16;
    case DType::kBFloat16:
      return StatColumn::kBFloat16;
    case DType::kFloat32:
      return StatColumn::kFloat32;
    default:
      return StatColumn::kOther;
  }
}

}  // namespace

void note_op(OpCall& c) {
  const StatColumn column = column_of(first_dtype(c));
  std::lock_guard lock(mutex);
  ++counts[std::string(c.op.name)][static_cast<size_t>(column)];
}

void start_op_stats() {
  std::lock_guard lock(mutex);
  counts.clear();
  count_ops = true;
}

OpStats stop_op_stats() {
  std::lock_guard lock(mutex);
  count_ops = false;
  return std::exchange(counts, {});
}

}  // namespace paddle::dispatch
