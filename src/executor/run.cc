// Running instructions.
#include <typeinfo>

#include "api/ops.h"
#include "base/error.h"
#include "base/profile.h"
#include "device/default_place.h"
#include "dispatch/check_numbers.h"
#include "dispatch/eager.h"
#include "dispatch/state.h"
#include "dispatch/trace.h"
#include "executor/arrays.h"
#include "executor/host_call.h"
#include "executor/runner.h"
#include "tensor/element.h"

namespace paddle::executor {
namespace {

bool truth(const Tensor& t) {
  if (t.dtype() == DType::kBool && t.numel() == 1 && t.place().is_cpu()) return *t.data<bool>();
  return Scalar(t).to_bool();
}

// " (model.py:31)"
std::string place_text(const pir::Location& loc) {
  const std::string_view file = loc.file();
  const size_t slash = file.rfind('/');
  return fmt::format(" ({}:{})", slash == std::string_view::npos ? file : file.substr(slash + 1), loc.line());
}

}  // namespace

Runner::Runner(Frame& f) : f_(f), check_numbers_(dispatch::check_nan_inf.load(std::memory_order_relaxed)) {}

void Runner::check_numbers(const Instruction& i) {
  if (i.kind != Kind::kKernel || i.op->has(kFactory)) return;
  for (size_t k = 0; k < i.results.size() && k < i.op->outs.size(); ++k) {
    if (i.results[k] == kNone) continue;
    if (i.result_lists[k])
      for (const Tensor& t : f_.lists[i.results[k]]) dispatch::check_output(i.op->name, i.op->outs[k].name, t);
    else
      dispatch::check_output(i.op->name, i.op->outs[k].name, result(i, k));
  }
}

void Runner::run(const Code& code) {
  const Instruction* at = nullptr;
  try {
    run_each(code, at);
  } catch (const Error& e) {
    // The user's line that made the operation; what another class says stands for itself.
    if (typeid(e) != typeid(Error) || !at || !at->source || located_) throw;
    located_ = true;
    const pir::Location loc = at->source->loc();
    if (!loc) throw;
    throw Error(e.kind(), std::string(e.what()) + place_text(loc));
  }
}

void Runner::run_each(const Code& code, const Instruction*& at) {
  for (const Instruction& i : code.list) {
    at = &i;
    if (profile::recording()) [[unlikely]]
      profiled_step(i);
    else
      step(i);
    if (check_numbers_) [[unlikely]]
      check_numbers(i);
    if (!i.checks.empty()) compare(i.checks, f_, i.source);
    bind(i.binds);
    for (uint32_t s : i.frees) f_.tensors[s] = Tensor();
    for (uint32_t s : i.list_frees) f_.lists[s].clear();
  }
}

// "exp+sum+divide": what a compiled group computes.
static std::string group_name(const pir::Operation& group) {
  std::string name;
  size_t shown = 0;
  for (const pir::Operation& op : group.region(0).front()) {
    if (op.name().starts_with("cf.")) continue;
    if (shown++ == 8) return name + "+...";
    name += (name.empty() ? "" : "+") + std::string(op.name().substr(op.name().rfind('.') + 1));
  }
  return name;
}

void Runner::profiled_step(const Instruction& i) {
  const bool group = i.kind == Kind::kGroup;
  const int64_t begin = profile::now();
  step(i);
  const std::string name = i.op ? std::string(i.op->name) : i.source ? std::string(i.source->name()) : "constant";
  profile::add(group ? profile::Kind::kGroup : profile::Kind::kInstruction,
               group && i.source ? group_name(*i.source) : name, begin,
               i.source && i.source->loc() ? place_text(i.source->loc()).substr(1) : "");
}

void Runner::step(const Instruction& i) {
  switch (i.kind) {
    case Kind::kKernel:
      return kernel(i);
    case Kind::kGroup:
      return group(i);
    case Kind::kCombine:
      return combine(i);
    case Kind::kSplit:
      return split(i);
    case Kind::kListItem:
      result(i) = list(i, 0).at(static_cast<size_t>(i.number));
      return;
    case Kind::kAlias:
      result(i) = tensor(i, 0);
      return;
    case Kind::kConstant:
      result(i) = i.constant;
      return;
    case Kind::kIf:
      return branch(i);
    case Kind::kHold:
      return hold(i);
    case Kind::kWhile:
      return loop(i);
    case Kind::kArrayCreate:
      return combine(i);
    case Kind::kArrayWrite:
      return array_write(i);
    case Kind::kArrayRead:
      result(i) = list(i, 0)[index(i, list(i, 0).size())];
      return;
    case Kind::kArrayLength:
      return array_length(i);
    case Kind::kArrayPop:
      return array_pop(i);
    case Kind::kArrayStack:
      result(i) = ops::stack(list(i, 0), i.number);
      return;
    case Kind::kArrayConcat:
      result(i) = ops::concat(list(i, 0), Scalar(i.number));
      return;
    case Kind::kArrayZerosLike:
      list_result(i) = array_zeros_like(list(i, 0));
      return;
    case Kind::kArrayAdd:
      list_result(i) = array_add(list(i, 0), list(i, 1));
      return;
    case Kind::kArrayAddAt:
      list_result(i) = array_add_at(list(i, 0), Scalar(tensor(i, 1)).to_int(), tensor(i, 2));
      return;
    case Kind::kArrayInsert:
      list_result(i) = array_insert(list(i, 0), Scalar(tensor(i, 1)).to_int(), tensor(i, 2));
      return;
    case Kind::kArrayUnwrite:
      list_result(i) = array_unwrite(list(i, 0), Scalar(tensor(i, 1)).to_int(), Scalar(tensor(i, 2)).to_int());
      return;
    case Kind::kArrayUnstack:
      list_result(i) = array_unstack(tensor(i, 0), i.number);
      return;
    case Kind::kArraySplit:
      list_result(i) = array_split(tensor(i, 0), list(i, 1), i.number);
      return;
    case Kind::kStackCreate:
      f_.stacks[i.results[0]].clear();
      return;
    case Kind::kStackCopy:
      f_.stacks[i.results[0]] = f_.stacks[i.operands[0]];
      return;
    case Kind::kPush:
      return push(i);
    case Kind::kPop:
      return pop(i);
    case Kind::kHasElements: {
      Tensor t = Tensor::empty({1}, DType::kBool);
      *t.data<bool>() = !f_.stacks[i.operands[0]].empty();
      result(i) = t;
      return;
    }
    case Kind::kAssert:
      return assertion(i);
    case Kind::kPrint: {
      Tensors shown;
      for (size_t k = 0; k < i.operands.size(); ++k) shown.push_back(tensor(i, k));
      return print_hook(*i.message, shown);
    }
    case Kind::kHostCall: {
      Tensors given;
      for (size_t k = 0; k < i.operands.size(); ++k) given.push_back(tensor(i, k));
      Tensors made = call_host(*i.source, given);
      for (size_t k = 0; k < made.size(); ++k)
        if (i.results[k] != kNone) result(i, k) = std::move(made[k]);
      return;
    }
  }
}

void Runner::split(const Instruction& i) {
  Tensors& items = list(i, 0);
  check(items.size() == i.results.size(), ErrorKind::kRuntime, "[split] expected a list of {} items, got {}",
        i.results.size(), items.size());
  for (size_t k = 0; k < items.size(); ++k)
    if (i.results[k] != kNone) result(i, k) = items[k];
}

void Runner::array_length(const Instruction& i) {
  Tensor n = Tensor::empty({}, DType::kInt64);
  *n.data<int64_t>() = static_cast<int64_t>(list(i, 0).size());
  result(i) = n;
}

void Runner::array_pop(const Instruction& i) {
  Tensors items = list(i, 0);
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(index(i, items.size())));
  list_result(i) = std::move(items);
}

static bool operand_is_list(const Instruction& i, size_t k) {
  for (const Patch& p : i.patches)
    if (p.arg == k) return true;
  return false;
}

void Runner::combine(const Instruction& i) {
  Tensors items;
  items.reserve(i.operands.size());
  for (uint32_t s : i.operands) items.push_back(s == kNone ? Tensor() : f_.tensors[s]);
  list_result(i) = std::move(items);
}

size_t Runner::index(const Instruction& i, size_t size) { return list_index(Scalar(tensor(i, 1)).to_int(), size); }

void Runner::array_write(const Instruction& i) {
  int64_t k = Scalar(tensor(i, 1)).to_int();
  Tensors items = list(i, 0);
  if (k < 0) k += static_cast<int64_t>(items.size());
  check(k >= 0 && k <= static_cast<int64_t>(items.size()), ErrorKind::kIndex,
        "list assignment index {} out of range for {} items", k, items.size());
  if (k == static_cast<int64_t>(items.size()))
    items.push_back(tensor(i, 2));
  else
    items[static_cast<size_t>(k)] = tensor(i, 2);
  list_result(i) = std::move(items);
}

void Runner::push(const Instruction& i) {
  std::vector<OutSlot> values;
  for (size_t k = 1; k < i.operands.size(); ++k) {
    OutSlot s;
    if (operand_is_list(i, k))
      s.list = list(i, k);
    else
      s.tensor = tensor(i, k);
    values.push_back(std::move(s));
  }
  f_.stacks[i.operands[0]].push_back(std::move(values));
}
void Runner::pop(const Instruction& i) {
  auto& stack = f_.stacks[i.operands[0]];
  PD_INVARIANT(!stack.empty());
  for (size_t k = 0; k < i.results.size(); ++k) {
    if (i.results[k] == kNone) continue;
    if (i.result_lists[k])
      list_result(i, k) = std::move(stack.back()[k].list);
    else
      result(i, k) = std::move(stack.back()[k].tensor);
  }
  stack.pop_back();
}

void Runner::assertion(const Instruction& i) {
  const Tensor& t = tensor(i, 0);
  for (int64_t k = 0, n = t.numel(); k < n; ++k)
    if (read_element(t, k) == 0.0) {
      Tensors shown;
      for (size_t at = 1; at < i.operands.size(); ++at) shown.push_back(tensor(i, at));
      throw AssertionFailed(ErrorKind::kRuntime, format_hook(*i.message, shown));
    }
}

void Runner::bind(const std::vector<SymbolBinding>& binds) {
  for (const SymbolBinding& b : binds)
    if (const Tensor& t = f_.tensors[b.slot]; t.defined()) f_.symbols[b.symbol] = t.size(b.axis);
}

// ---- regions
void Runner::take_yields(const Code& c, std::vector<OutSlot>& out) {
  out.resize(c.yields.size());
  for (size_t k = 0; k < c.yields.size(); ++k) {
    out[k] = OutSlot();
    if (c.yields[k] == kNone) continue;
    if (c.yield_is_list[k])
      out[k].list = f_.lists[c.yields[k]];
    else
      out[k].tensor = f_.tensors[c.yields[k]];
  }
}
void Runner::put(const std::vector<uint32_t>& slots, const std::vector<uint8_t>& lists, std::vector<OutSlot>& from,
                 size_t first) {
  for (size_t k = 0; k < slots.size(); ++k) {
    if (slots[k] == kNone) continue;
    if (lists[k])
      f_.lists[slots[k]] = std::move(from[first + k].list);
    else
      f_.tensors[slots[k]] = std::move(from[first + k].tensor);
  }
}

void Runner::branch(const Instruction& i) {
  const Code& c = truth(tensor(i, 0)) ? *i.body : *i.otherwise;
  run(c);
  std::vector<OutSlot> values;
  take_yields(c, values);
  put(i.results, i.result_lists, values, 0);
}

void Runner::hold(const Instruction& i) {
  HeldResults& h = *i.held;
  std::vector<OutSlot> values;
  {
    std::lock_guard lock(h.mutex);
    bool fresh = h.of.size() == i.operands.size();
    for (size_t k = 0; fresh && k < h.of.size(); ++k) fresh = h.of[k].still(f_.tensors[i.operands[k]]);
    if (fresh) values = h.values;
  }
  if (values.empty()) {
    run(*i.body);
    take_yields(*i.body, values);
    std::lock_guard lock(h.mutex);
    h.of.clear();
    for (uint32_t slot : i.operands) h.of.emplace_back(f_.tensors[slot]);
    h.values = values;
  }
  put(i.results, i.result_lists, values, 0);
}

void Runner::loop(const Instruction& i) {
  const Code& c = *i.body;
  std::vector<uint8_t> lists(c.arg_is_list.begin(), c.arg_is_list.end());
  bool go = truth(tensor(i, 0));
  std::vector<OutSlot> values(i.operands.size());
  for (size_t k = 1; k < i.operands.size(); ++k) {
    if (i.operands[k] == kNone) continue;
    if (lists[k - 1])
      values[k].list = f_.lists[i.operands[k]];
    else
      values[k].tensor = f_.tensors[i.operands[k]];
  }
  while (go) {
    put(c.args, lists, values, 1);
    compare(c.arg_checks, f_, i.source);
    bind(c.arg_binds);
    run(c);
    take_yields(c, values);
    go = truth(values[0].tensor);
  }
  put(i.results, i.result_lists, values, 1);
}

void run_code(const Code& code, Frame& frame) { Runner(frame).run(code); }

}  // namespace paddle::executor
