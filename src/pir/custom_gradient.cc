#include "pir/custom_gradient.h"

#include <algorithm>

#include "base/error.h"

namespace paddle::pir {
namespace {

std::vector<int64_t> numbers(const Operation& op, std::string_view name) {
  std::vector<int64_t> out;
  if (Attribute a = op.attr(name))
    for (Dim d : a.as_ints()) out.push_back(d.value());
  return out;
}

void verify_custom_grad(const Operation& op) {
  auto bad = [&](const std::string& what) { throw Error(ErrorKind::kValue, op.describe() + " " + what); };
  if (op.num_operands() < op.num_results()) bad("expected as many computed values as results among its operands");
  const size_t n = num_inputs(op);
  for (size_t i = 0; i < op.num_results(); ++i)
    if (op.operand(n + i).type() != op.result(i).type())
      bad(fmt::format("expected result {} of type {}, got {}", i, op.operand(n + i).type().str(),
                      op.result(i).type().str()));
  if (numbers(op, "given").size() != op.num_regions()) bad("expected one number in \"given\" for each region");
  for (size_t r = 0; r < op.num_regions(); ++r) {
    if (op.region(r).empty() || !op.region(r).front().terminator()) bad("expected a region that ends in cf.yield");
    const Block& b = op.region(r).front();
    if (b.num_args() != op.num_results()) bad("expected an argument of each region for each result");
    const std::vector<size_t> inputs = gradient_inputs(op, r);
    if (b.terminator()->num_operands() != inputs.size()) bad("expected one value for each input that gets a gradient");
    for (size_t i : inputs)
      if (i >= n) bad(fmt::format("expected inputs in [0, {}), got {}", n, i));
  }
}

void verify_grad_hook(const Operation& op) {
  const bool one = !op.region(0).empty() && op.region(0).front().num_args() == 1 && op.region(0).front().terminator() &&
                   op.region(0).front().terminator()->num_operands() == 1;
  if (!one) throw Error(ErrorKind::kValue, op.describe() + " expected a region from one gradient to one");
}

}  // namespace

size_t num_inputs(const Operation& op) { return op.num_operands() - op.num_results(); }

std::vector<size_t> gradient_inputs(const Operation& op, size_t r) {
  std::vector<size_t> out;
  for (int64_t i : numbers(op, "grads_" + std::to_string(r))) out.push_back(static_cast<size_t>(i));
  return out;
}

size_t gradient_region(const Operation& op, uint64_t given) {
  const std::vector<int64_t> sets = numbers(op, "given");
  auto it = std::find(sets.begin(), sets.end(), static_cast<int64_t>(given));
  return it == sets.end() ? 0 : static_cast<size_t>(it - sets.begin());
}

std::vector<Operation*> gradient_hooks(Value v) {
  std::vector<Operation*> hooks;
  for (const OpOperand& use : v.uses())
    if (use.owner()->is(kGradHook)) hooks.push_back(use.owner());
  std::sort(hooks.begin(), hooks.end(),
            [](Operation* a, Operation* b) { return a->attr("id").as_int() < b->attr("id").as_int(); });
  return hooks;
}

size_t drop_custom_gradients(Operation& root) {
  std::vector<Operation*> found;
  root.walk([&](Operation& op) {
    if (is_custom_gradient(op)) found.push_back(&op);
  });
  // The last first: nothing that is left uses what is erased, and one inside another's region goes before it.
  for (size_t i = found.size(); i-- > 0;) {
    Operation& op = *found[i];
    for (size_t k = 0; k < op.num_results(); ++k) op.result(k).replace_all_uses_with(op.operand(num_inputs(op) + k));
    op.erase();
  }
  return found.size();
}

std::vector<OpDef> custom_gradient_ops() {
  OpDef grad;
  grad.name = kCustomGrad;
  grad.dialect = "cf";
  grad.operands = {{"values", true, false, true, -1}};
  grad.results = {{"outs", true, false, true}};
  grad.min_regions = 1;
  grad.max_regions = 1 << 10;
  grad.verify = verify_custom_grad;
  OpDef hook;
  hook.name = kGradHook;
  hook.dialect = "cf";
  hook.operands = {{"x", false, false, false, -1}};
  hook.attrs = {{"id", true, {AttrKind::kInt32, AttrKind::kInt64}, -1, {}}};
  hook.traits = uint64_t{kSideEffect};
  hook.min_regions = hook.max_regions = 1;
  hook.verify = verify_grad_hook;
  return {grad, hook};
}

}  // namespace paddle::pir
