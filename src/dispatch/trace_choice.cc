// Results of branches and loops that share memory with tensors around them.
//
// `y = x[1:] if c else x * 2` is a view of x where c holds. Its value is an operation's result like any other. Only
// when it is written, or x is, does the view matter: then both are written under the condition, or y is chosen anew. A
// view that was made inside a branch is made once more outside for that, which is possible where it looks the same
// whether the branch ran or not; else the write is an error.
#include <algorithm>
#include <functional>

#include "api/ops.h"
#include "dispatch/state.h"
#include "dispatch/trace.h"
#include "pir/op_args.h"

namespace paddle::dispatch {
namespace {

TracedPayload& payload(const Tensor& t) { return *static_cast<TracedPayload*>(t->payload.get()); }

// What the trace keeps of every tensor.
template <class Logs>
size_t held_by_trace(const Tensor& t, const Logs& logs, const Tensors& made) {
  size_t n = 0;
  for (const auto& log : logs)
    for (const auto& written : log) n += written.handle.same(t);
  for (const Tensor& m : made) n += m.same(t);
  return n;
}

[[noreturn]] void fail_unclear() {
  pir::Location at = current_location();
  throw GraphBreak(
      ErrorKind::kRuntime,
      fmt::format("[to_static] a tensor is written in place that is another tensor's memory or its own, as a branch or "
                  "loop on a tensor decides, in a way that can't be captured: write to a copy (clone()){}",
                  at ? " (at " + at.str() + ")" : std::string()));
}

}  // namespace

struct TracedPayload::Choice {
  struct Side {
    Tensor tensor, root;            // undefined: memory of its own
    Ref<TracedPayload> root_meant;  // when the value was chosen
  };
  Tensor condition;
  Side yes, no;
};

bool Trace::in_reach(const Tensor& t) const {
  return !t.is_traced() || std::find(blocks_.begin(), blocks_.end(), payload(t).home) != blocks_.end();
}

// The first tensor that is known outside of the branch, of those that `side` looks into; undefined: it has memory of
// its own.
Tensor Trace::outer_side(const Tensor& side) const {
  Tensor t = side;
  while (!in_reach(t)) {
    const TracedPayload& p = payload(t);
    if (p.is_view())
      t = p.base;
    else if (p.choice && p.choice->yes.tensor.defined())
      t = p.choice->yes.tensor;
    else if (p.choice)
      t = p.choice->no.tensor;
    else if (auto entry = entry_values_.find(p.value); entry != entry_values_.end())
      return side;  // what a loop's variable was: nobody knows in which round
    else
      return {};
  }
  return root_of(t);
}

void Trace::note_choice(const Tensor& result, const Tensor& condition, const Tensor& yes, const Tensor& no) {
  if (is_array(result) || lasting_) return;
  auto choice = std::make_shared<TracedPayload::Choice>();
  auto side = [&](const Tensor& t) -> TracedPayload::Choice::Side {
    const Tensor root = outer_side(t);
    if (!root.defined()) return {};
    return {t, root, in_reach(root) ? payload_of(root) : Ref<TracedPayload>()};
  };
  choice->yes = side(yes);
  choice->no = side(no);
  if (!choice->yes.tensor.defined() && !choice->no.tensor.defined()) return;
  choice->condition = tensor_of(value_of(condition), true);
  payload(result).choice = std::move(choice);
}

// Does anyone hold it but the choice, also as it is being changed?
bool Trace::observed(const Tensor& t) const {
  if (!t.is_traced()) return true;
  for (const Tensor& input : inputs_)
    if (input.same(t)) return true;
  return t.impl()->use_count() > held_by_trace(t, writes_, made_) + 4;
}

pir::Value Trace::hoisted_operand(pir::Value v) {
  if (!v || std::find(blocks_.begin(), blocks_.end(), v.owner_block()) != blocks_.end()) return v;
  if (!v.is_result() || !pir::known_value(v)) fail_unclear();
  const pir::Operation& op = *v.defining_op();
  std::vector<pir::Value> operands;
  for (pir::Value x : op.operands()) operands.push_back(hoisted_operand(x));
  std::vector<pir::Type> types;
  for (pir::Value r : op.results_vector()) types.push_back(r.type());
  pir::Operation* made = emit(op.def(), operands, op.attrs(), types);
  made->result(0).set_stop_gradient(true);
  return made->result(0);
}

// A tensor of a branch's inside, made again where the branch is over.
Tensor Trace::hoisted(const Tensor& t) {
  if (in_reach(t)) return t;
  const TracedPayload& p = payload(t);
  if (!p.is_view()) fail_unclear();
  Tensor base = hoisted(p.base);
  if (!p.view_op) return detached(base);
  std::vector<pir::Value> operands = p.view_op->operands();
  for (size_t i = 0; i < operands.size(); ++i) {
    // An index that isn't a number may be out of range where the branch doesn't run.
    if (i == p.view_operand) continue;
    if (operands[i] && !pir::known_value(operands[i])) fail_unclear();
    operands[i] = hoisted_operand(operands[i]);
  }
  operands[p.view_operand] = value_of(base);
  GradMode recorded(true);
  std::vector<pir::Type> types;
  for (pir::Value r : p.view_op->results_vector()) types.push_back(r.type());
  pir::Operation* op = emit(p.view_op->def(), operands, p.view_op->attrs(), types);
  for (pir::Value r : op->results_vector())
    if (r.type()) r.set_stop_gradient(base.stop_gradient());
  pir::Value v = op->result(p.view_result);
  if (p.view_item >= 0) {
    std::vector<pir::Type> items(v.type().elements().begin(), v.type().elements().end());
    pir::Operation* split = emit(pir::op_def("builtin.split"), {&v, 1}, {}, items);
    for (pir::Value r : split->results_vector()) r.set_stop_gradient(base.stop_gradient());
    v = split->result(static_cast<size_t>(p.view_item));
  }
  Tensor again = tensor_of(v, base.stop_gradient(), t.place());
  TracedPayload& made = payload(again);
  made.base = base;
  made.base_payload = payload_of(base);
  made.view_op = op;
  made.view_operand = p.view_operand;
  made.view_result = p.view_result;
  made.view_item = p.view_item;
  made.layout = p.layout;
  return again;
}

// The value anew, where a tensor that it may be was written since.
void Trace::refresh_choice(const Tensor& t) {
  Ref<TracedPayload> p = payload_of(t);
  TracedPayload::Choice& choice = *p->choice;
  bool stale = false;
  for (TracedPayload::Choice::Side* side : {&choice.yes, &choice.no}) {
    if (!side->root.defined() || !side->root_meant) continue;
    refreshed(side->root);
    stale |= payload_of(side->root) != side->root_meant;
  }
  if (!stale) return;
  const bool stop = t.stop_gradient();
  GradMode recorded(!stop);
  Tensor own = tensor_of(p->value, p->value.stop_gradient(), t.place());
  auto value = [&](const TracedPayload::Choice::Side& side) {
    if (!side.tensor.defined()) return own;
    Tensor now = hoisted(side.tensor);
    refreshed(now);
    return now;
  };
  auto next = std::make_shared<TracedPayload::Choice>(choice);
  Tensor chosen = ops::where(choice.condition, value(choice.yes), value(choice.no));
  check(chosen.shape() == t.shape() && chosen.dtype() == t.dtype(), ErrorKind::kNotImplemented,
        "[to_static] a tensor that is a view in one branch only, of shape {} or another one, can't be followed",
        to_string(view(t.shape())));
  for (TracedPayload::Choice::Side* side : {&next->yes, &next->no})
    if (side->root.defined() && side->root_meant) side->root_meant = payload_of(side->root);
  Ref<TracedPayload> now = new_payload(chosen.is_traced() ? payload(chosen).value : value_of(chosen));
  now->version = p->version + 1;
  now->choice = std::move(next);
  log_write(t);
  set_payload(t, now);
}

void Trace::write_choice(const Tensor& t, const Tensor& value, bool recorded) {
  Ref<TracedPayload> p = payload_of(t);
  auto next = std::make_shared<TracedPayload::Choice>(*p->choice);
  const Tensor condition = next->condition;
  auto write_side = [&](TracedPayload::Choice::Side& side, bool yes) {
    if (!side.tensor.defined()) return;
    if (side.root_meant && side.tensor.same(side.root) && !observed(side.root)) {  // nobody will know
      side = {};
      return;
    }
    if (!side.root_meant) fail_unclear();
    Tensor to = hoisted(side.tensor);
    GradMode mode(recorded);
    Tensor now = alias(to);
    write(to, yes ? ops::where(condition, value, now) : ops::where(condition, now, value), recorded);
    side.root_meant = payload_of(side.root);
  };
  write_side(next->yes, true);
  write_side(next->no, false);
  for (TracedPayload::Choice::Side* side : {&next->yes, &next->no})
    if (side->root.defined() && side->root_meant) side->root_meant = payload_of(side->root);
  log_write(t);
  Ref<TracedPayload> now = new_payload(value_of(value));
  now->version = p->version + 1;
  now->choice = std::move(next);
  set_payload(t, now);
  if (!value.stop_gradient()) set_needs_grad(t);
}

Trace::LoopSharing Trace::loop_sharing(const TraceRegion& body, const Tensors& entries, const Tensors& outs,
                                       const std::vector<bool>& held) {
  const Tensors& args = body.args();
  const size_t n = args.size();
  auto root = [&](Tensor t) {
    while (t.is_traced() && payload(t).is_view()) t = payload(t).base;
    return t.is_traced() ? t : root_of(t);
  };
  Tensors written;  // around the loop
  for (const auto& w : body.writes()) written.push_back(root(w.handle));
  std::vector<bool> variable(n), writes(n);
  for (size_t i = 0; i < n; ++i) {
    variable[i] = i < entries.size() && i < outs.size() && entries[i].defined() && !is_array(args[i]);
    writes[i] = variable[i] && payload(args[i]).version > 0;
  }
  const bool any = !written.empty() || std::find(writes.begin(), writes.end(), true) != writes.end();
  if (!any || lasting_) return LoopSharing::kNone;
  auto is_written = [&](const Tensor& t) {
    return std::any_of(written.begin(), written.end(), [&](const Tensor& w) { return w.same(t); });
  };
  // What a variable may be after a round. 0: memory of its own; 1: that of before the round; 2: another's, and one of
  // them is written.
  std::function<int(const Tensor&, size_t)> left = [&](const Tensor& of, size_t i) {
    const Tensor t = root(of);
    if (t.same(args[i])) return 1;
    for (size_t k = 0; k < n; ++k)
      if (t.same(args[k])) return writes[i] || writes[k] ? 2 : 0;
    if (in_reach(t)) return writes[i] || is_written(t) ? 2 : 0;
    int most = 0;
    if (const auto& choice = payload(t).choice)
      for (const auto* side : {&choice->yes, &choice->no})
        if (side->tensor.defined()) most = std::max(most, left(side->tensor, i));
    return most;
  };
  bool first = false;
  for (size_t i = 0; i < n; ++i) {
    if (!variable[i]) continue;
    const int kind = left(outs[i], i);
    if (kind == 2) return LoopSharing::kEveryRound;
    for (size_t k = i + 1; k < n; ++k)
      if (variable[k] && (writes[i] || writes[k]) && root(outs[k]).same(root(outs[i]))) return LoopSharing::kEveryRound;
    const Tensor entry = root(entries[i]);
    bool shared = is_written(entry);
    for (size_t k = 0; k < n; ++k)
      shared |= k != i && variable[k] && (writes[i] || writes[k]) && root(entries[k]).same(entry);
    const bool alone = !held[i] && entry.same(entries[i]) && entry.is_traced() && !payload(entry).choice &&
                       !std::any_of(inputs_.begin(), inputs_.end(), [&](const Tensor& t) { return t.same(entry); }) &&
                       entry.impl()->use_count() <= held_by_trace(entry, writes_, made_) + 3;  // Python, the list, here
    shared |= writes[i] && !alone;
    if (shared && writes[i] && kind == 1) return LoopSharing::kEveryRound;
    first |= shared;
  }
  return first ? LoopSharing::kFirstRound : LoopSharing::kNone;
}

// A segment ends: what is alive gets memory of its own.
void Trace::note_unsure() {
  std::erase_if(unsure_, [](const Tensor& t) { return t.impl()->use_count() == 1; });
  for (const Tensor& t : std::vector<Tensor>(made_)) {
    if (!t.is_traced() || t.impl()->use_count() <= 2 || !payload(t).choice || !in_reach(t)) continue;
    const TracedPayload::Choice& choice = *payload(t).choice;
    bool seen = false;
    for (const auto* side : {&choice.yes, &choice.no})
      if (side->tensor.defined() && (!side->tensor.same(side->root) || observed(side->root))) {
        seen = true;
        unsure_.push_back(side->root);
      }
    if (seen) unsure_.push_back(t);
    payload(t).choice = nullptr;
  }
}

void Trace::check_sure(const OpCall& c) {
  if (unsure_.empty() || (!c.inplace && !c.op.has(kInplaceOnly))) return;
  std::erase_if(unsure_, [](const Tensor& t) { return t.impl()->use_count() == 1; });
  for (const OutInfo& out : c.op.outs) {
    if (out.inplace_of < 0) continue;
    for (const Tensor& t : c.args[static_cast<size_t>(out.inplace_of)].tensors_or_empty())
      for (const Tensor& unsure : unsure_)
        if (t.defined() &&
            (root_of(t).same(unsure) || (t.is_dense() && unsure.is_dense() && t->storage == unsure->storage)))
          fail_unclear();
  }
}

}  // namespace paddle::dispatch
