#include "compile/recompute_price.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/max_flow.h"
#include "cinn/group/translate.h"
#include "cinn/group/translator.h"
#include "cinn/schedule/cost.h"
#include "pir/effects.h"

namespace paddle::compile {

using pir::Operation;
using pir::Value;

namespace {

constexpr int64_t kHandle = 64;              // of a kept tensor, whatever it holds
constexpr double kPerOperation = 4.0 / 128;  // bytes that an arithmetic operation on one element counts as
constexpr double kPerMove = 4.0 / 16;        // that an element's place counts as: a slice, a part of a concatenation

bool is_list_maker(const Operation& op) {
  return op.is("builtin.combine") || op.is("builtin.split") || op.is("builtin.slice");
}

bool is_view(const Operation& op) { return op.info() && op.info()->has(kView) && !op.info()->has(kInplaceOnly); }

int64_t elements_of(Value v) {
  if (!v.type().has_shape()) return 0;
  int64_t n = 1;
  for (Dim d : v.shape()) n *= d.hint();
  return std::max<int64_t>(n, 0);
}

// Moves or converts elements, or one pass of arithmetic.
bool is_light(const Operation& op) {
  if (!op.info() || op.num_regions() || op.has(kRandom | pir::kKeep | kDataDependentShape)) return false;
  if (!op.has(kView | kElementwise | kBroadcast) && !op.info()->has(kView | kElementwise | kIndexMap)) return false;
  return pir::sizes_told_by(op).empty();
}

double arithmetic(const Operation& op) {
  double sum = 0;
  if (const scalar::Program* e = op.info()->expr)
    for (const scalar::Instr& i : e->instrs) sum += cinn::cost_of(i.fn);
  return sum;
}

}  // namespace

int64_t bytes_of(Value v) {
  if (v.type().is_vector()) {
    int64_t sum = 0;
    for (pir::Type t : v.type().elements()) {
      if (!t || !t.has_shape()) continue;
      int64_t n = static_cast<int64_t>(size_of(t.dtype()));
      for (Dim d : t.shape()) n *= d.hint();
      sum += n;
    }
    return sum;
  }
  return v.type().has_shape() ? elements_of(v) * static_cast<int64_t>(size_of(v.dtype())) : 0;
}

std::string described(Value v) {
  const Operation& op = *v.defining_op();
  std::string text(op.def().short_name());
  if (pir::Attribute name = op.attr(op.is("builtin.parameter") ? "parameter_name" : "name");
      name && op.has(pir::kGraphInput))
    text += fmt::format(" {}", name.as_string());
  if (op.loc()) text += fmt::format(" ({})", op.loc().str());
  return fmt::format("{} {}", text, v.type().str());
}

RecomputePrices::RecomputePrices(const pir::Block& block, const Operations& backward, bool host) : host_(host) {
  std::vector<Operation*> ops = const_cast<pir::Block&>(block).ops();
  note_steps(ops);
  for (size_t i = ops.size(); i-- > 0;) {
    const Operation& op = *ops[i];
    if (op.is("builtin.set_parameter")) overwritten_.insert(op.attr("parameter_name").as_string());
    const bool own = backward.count(&op) > 0;
    if (!own && !pir::is_removable(op)) needed_.insert(&op);
    if (!own && needed_.count(&op))
      for (Value v : values_read(op))
        if (v.is_result()) needed_.insert(v.defining_op());
    note_readers(op, own);
  }
}

bool RecomputePrices::fusable(const Operation& op) const {
  return cinn::translatable(op, {.loops = !host_}) && (!host_ || !cinn::picks_rows(op));
}

// Operations between two kernels that stand alone may become one group; what a later group reads lies in memory.
void RecomputePrices::note_steps(const std::vector<Operation*>& ops) {
  for (const Operation* op : ops) {
    int steps = 0;
    for (Value v : values_read(*op)) {
      if (!v.is_result()) continue;
      const Operation& maker = *v.defining_op();
      const bool alone = !is_constant(maker) && !maker.has(pir::kGraphInput) && !is_list_maker(maker) &&
                         !is_view(maker) && !fusable(maker);
      auto it = steps_.find(&maker);
      steps = std::max(steps, (it == steps_.end() ? 0 : it->second) + (alone ? 1 : 0));
    }
    steps_[op] = steps;
  }
}

// Operations come last first, so that views know of their readers.
void RecomputePrices::note_readers(const Operation& op, bool backward) {
  for (Value v : values_read(op)) {
    if (backward || is_light(op) || is_list_maker(op)) note_read(v, op, true);
    if (!backward && needed_.count(&op)) note_read(v, op, false);
  }
}

void RecomputePrices::note_read(Value v, const Operation& by, bool backward) {
  auto& written = backward ? written_again_ : written_;
  const bool passes_on = is_view(by) || is_list_maker(by);
  bool from_memory = !passes_on && !fusable(by);
  if (!backward) from_memory |= steps_.at(&by) > steps_.at(v.defining_op());
  for (Value r : by.results_vector()) from_memory |= passes_on && r.type() && written.count(r);
  if (from_memory) written.insert(v);
}

bool RecomputePrices::stays(Value v) const {
  const Operation& maker = *v.defining_op();
  if (!maker.has(pir::kGraphInput)) return false;
  return !maker.is("builtin.parameter") || !overwritten_.count(maker.attr("parameter_name").as_string());
}

// A view keeps all of what it looks into.
int64_t RecomputePrices::memory_behind(Value v) const {
  while (v.is_result() && is_view(*v.defining_op()) && v.defining_op()->operand(size_t{0}))
    v = v.defining_op()->operand(size_t{0});
  return v.is_result() && stays(v) ? 0 : bytes_of(v);
}

int64_t RecomputePrices::keeping(Value v) const {
  const Operation& maker = *v.defining_op();
  if (is_constant(maker) || is_list_maker(maker) || (v.type().is_vector() && is_light(maker)))
    return v.type().is_vector() || is_constant(maker) ? FlowNetwork::kInfinite : bytes_of(v) + kHandle;
  // What only fused kernels read is written for the backward part's sake.
  const bool there = !fusable(maker) || is_view(maker) || written_.count(v);
  // A view is made again for nothing, and as a part of a group it would be copied.
  return memory_behind(v) * (there ? 1 : 2) + kHandle * (is_view(maker) ? 2 : 1);
}

int64_t RecomputePrices::again(const Operation& op) const {
  if (is_constant(op) || is_list_maker(op)) return 0;
  if (!needed(op)) return op.has(kRandom) || op.num_regions() ? FlowNetwork::kInfinite : 0;
  if (!is_light(op)) return FlowNetwork::kInfinite;
  if (is_view(op)) return 0;
  int64_t sum = 0;
  for (Value v : op.results_vector()) {
    if (!v.type()) continue;
    const double elements = static_cast<double>(elements_of(v)), bytes = static_cast<double>(bytes_of(v));
    double price = elements * (op.info()->has(kIndexMap) ? kPerMove : kPerOperation * std::max(1.0, arithmetic(op)));
    if (!fusable(op)) price += bytes;
    if (!fusable(op) || written_again_.count(v)) price += bytes / 2;
    sum += static_cast<int64_t>(price) + 1;
  }
  return sum;
}

std::string RecomputePrices::why_never(const Operation& op) const {
  if (op.has(pir::kGraphInput)) return "an input: it is there anyway";
  if (op.num_regions()) return "control flow";
  if (op.has(kRandom)) return "a draw";
  if (op.has(kCollective)) return "it talks to other ranks";
  if (op.has(pir::kKeep)) return "a side effect";
  if (op.has(kDataDependentShape) || !pir::sizes_told_by(op).empty()) return "only running tells its size";
  if (op.has(kMatmulLike)) return "a product";
  if (op.has(kReduction)) return "a reduction";
  return "a kernel computes it alone";
}

std::string RecomputePrices::why_kept(const Operation& maker) const {
  if (!needed(maker)) return "smaller than what it is made of";
  if (again(maker) == FlowNetwork::kInfinite) return why_never(maker);
  return "computing it again, from what would be kept instead, costs more";
}

std::string RecomputePrices::why_again(const Operation& op) const {
  if (is_view(op) || is_list_maker(op)) return "a view";
  for (Value v : op.results_vector())
    if (v.type() && written_again_.count(v)) return "written out again for a kernel that reads it";
  return "part of the kernels that read it";
}

}  // namespace paddle::compile
