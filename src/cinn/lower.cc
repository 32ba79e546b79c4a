#include "cinn/lower.h"

#include <chrono>

#include "cinn/compute/axes.h"
#include "cinn/loop/build.h"
#include "cinn/schedule/plan.h"
#include "cinn/schedule/split.h"
#include "cinn/simplify/group.h"

namespace paddle::cinn {
namespace {

class Steps {
 public:
  explicit Steps(const StepLog& log) : log_(log) {}

  // Runs one step; describe gives its result as text, asked for only if somebody listens.
  template <class Step, class Describe>
  auto operator()(std::string_view name, Step&& step, Describe&& describe) {
    auto start = std::chrono::steady_clock::now();
    auto result = step();
    if (log_) {
      std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
      std::string text = describe(result);
      if (text != last_) log_(name, text, took.count());
      last_ = std::move(text);
    }
    return result;
  }

 private:
  const StepLog& log_;
  std::string last_;
};

struct Aligned {
  Group group;
  Axes axes;
};

// Where a call may have too few rows to occupy the threads, a second set of kernels that cut the rows; each set runs in
// the calls that are its own.
void add_variant_for_few_rows(Module& module, Group group, Axes axes, const Target& target, Steps& step) {
  group.pool = module.pool;
  const std::optional<Index> rows = split_few_rows(group, axes, target);
  if (!rows) return;
  IndexPool& pool = group.pool;
  const Index many = pool.clamp(*rows - (2 * target.threads - 1), 0, 1);
  const size_t before = module.kernels.size();
  step(
      "variant for few rows",
      [&] {
        const Plan plan = plan_kernels(group, axes, target);
        append_loops(module, group, axes, plan, target);
        return 0;
      },
      [&](int) { return module.str(); });
  for (size_t k = 0; k < module.kernels.size(); ++k) module.kernels[k].when = k < before ? many : Index(1) - many;
}

}  // namespace

Module lower(const Group& input, const Target& target, const StepLog& log) {
  Steps step(log);
  step(
      "group", [&] { return 0; }, [&](int) { return input.str(); });

  Group group = step(
      "simplify", [&] { return simplify_group(input); }, [](const Group& g) { return g.str(); });

  Axes axes = step(
      "align axes", [&] { return align_axes(group); }, [&](const Axes& a) { return a.str(group); });

  Aligned open{group, axes};  // for the variant
  bool split = step(
      "split long reductions", [&] { return split_long_reductions(group, axes, target); },
      [&](bool) { return axes.str(group); });
  if (split && log) log("split long reductions", group.str(), 0);

  Plan plan = step(
      "plan kernels", [&] { return plan_kernels(group, axes, target); }, [&](const Plan& p) { return p.str(group); });

  Module module = step(
      "build loops", [&] { return build_loops(group, axes, plan, target); }, [](const Module& m) { return m.str(); });
  add_variant_for_few_rows(module, std::move(open.group), std::move(open.axes), target, step);
  return module;
}

}  // namespace paddle::cinn
