#include "cinn/schedule/plan.h"

#include <fmt/format.h>

#include "cinn/schedule/plan_steps.h"

namespace paddle::cinn {

Plan plan_kernels(const Group& group, const Axes& axes, const Target& target) {
  Plan plan = place_kernels(group, axes, target);
  arrange_kernels(group, axes, target, plan);
  return plan;
}

std::string Plan::str(const Group&) const {
  std::string out;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const KernelPlan& p = kernels[k];
    out += fmt::format("kernel {}: parallel [{}]", k, fmt::join(p.parallel, " "));
    out += p.by_columns ? fmt::format(" columns along {}", p.vector_axis) : " rows";
    out += p.tile_axis >= 0 ? fmt::format(" tiles along {}\n", p.tile_axis) : "\n";
    if (!p.why.empty()) out += fmt::format("  apart: {}\n", p.why);
    for (const PassPlan& q : p.passes) {
      out += fmt::format("  pass {} [{}]", q.depth, fmt::join(q.axes, " "));
      if (!q.prelude.empty()) out += fmt::format(" prelude %{}", fmt::join(q.prelude, " %"));
      if (!q.reductions.empty()) out += fmt::format(" reduce %{}", fmt::join(q.reductions, " %"));
      if (!q.keep.empty()) out += fmt::format(" keep %{}", fmt::join(q.keep, " %"));
      for (const StorePlan& s : q.stores)
        out += fmt::format(" store %{} to {}{}", s.node, s.temporary ? "temp" : "out", s.slot);
      out += "\n";
    }
  }
  return out;
}

}  // namespace paddle::cinn
