// Pooling: reductions over windows.
#include "cinn/group/loops.h"
#include "cinn/group/nest.h"
#include "cinn/group/window_nest.h"

namespace paddle::cinn {
namespace {

using pir::Operation;
using scalar::Fn;

std::vector<int64_t> constants(Translator& t, const Operation& op, std::string_view name) {
  std::vector<int64_t> out;
  for (const Index& i : t.ints(op, name)) {
    if (!i.is_const()) no_nest(op, "a window's size is symbolic");
    out.push_back(i.value());
  }
  return out;
}

// x [n, c, i0, u0, i1, u1, ...] reduced over its offsets.
std::vector<int> offsets(int r) {
  std::vector<int> out;
  for (int a = 0; a < r; ++a) out.push_back(3 + 2 * a);
  return out;
}

void pool(Translator& t, const Operation& op) {
  Nest e(t);
  if (flag(op, "adaptive") || flag(op, "global_pooling")) no_nest(op, "its windows differ in size");
  WindowNest w(e, op, constants(t, op, "kernel_size"));
  const int r = static_cast<int>(w.rank());
  const DType dtype = op.result(0).dtype(), wide = compute_type(dtype);
  const bool mean = word(op, "pooling_type", "max") == "avg";
  if (mean && flag(op, "ceil_mode")) no_nest(op, "means over windows that hang over");
  int x = e.g.cast(w.to_channels_first(t.node(op.operand(size_t{0}))), wide);
  const Shape before = e.shape(x);
  int fill = e.g.constant(wide, mean ? 0 : -std::numeric_limits<double>::infinity());
  for (int a = 0; a < r; ++a) x = w.windows(x, 2 + 2 * static_cast<size_t>(a), a, w.outputs(op.result(0), a), fill);
  int out = e.g.reduce(mean ? ReduceKind::kSum : ReduceKind::kMax, x, offsets(r), false, wide);
  for (int a = 0; a < r && mean; ++a) {
    const Index n = w.outputs(op.result(0), a);
    int count = e.number(w.kernel(a));
    pir::Attribute exclusive = op.attr("exclusive");
    if (!exclusive || exclusive.as_bool()) {
      int covered = w.inside(a, n, before[static_cast<size_t>(a) + 2]);
      count = e.sum(e.g.cast(covered, Nest::kInt), {1}, Nest::kInt);
      Shape spread(e.shape(out).size(), Index(1));
      spread[static_cast<size_t>(a) + 2] = n;
      count = e.g.reshape(count, spread);
    }
    out = e.div(out, e.g.cast(count, wide), wide);
  }
  t.set(op.result(0), w.from_channels_first(e.g.cast(out, dtype)));
}

}  // namespace

RuleTable pool_rules() {
  static constexpr NamedRule rules[] = {{"pool", pool}};
  return rules;
}

}  // namespace paddle::cinn
