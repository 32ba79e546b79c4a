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
  struct Root {
    Tensor tensor;
    Ref<TracedPayload> meant;  // when the value was chosen
  };
  struct Side {
    Tensor tensor;            // undefined: memory of its own
    std::vector<Root> roots;  // that it looks into, as far as they are known outside of the branch
    bool unclear = false;     // one of them, or a part: a branch's or loop's inside decides
  };
  Tensor condition;
  Side yes, no;

  template <class F>
  void each_root(F&& f) {
    for (Side* side : {&yes, &no})
      for (Root& root : side->roots) f(root);
  }
};

namespace {

using Side = TracedPayload::Choice::Side;

}  // namespace

bool Trace::in_reach(const Tensor& t) const {
  return !t.is_traced() || std::find(blocks_.begin(), blocks_.end(), payload(t).home) != blocks_.end();
}

void Trace::add_roots(const Tensor& t, const Tensors& around, TracedPayload::Choice& choice, bool yes) const {
  Side& side = yes ? choice.yes : choice.no;
  if (in_reach(t)) {
    const Tensor root = root_of(t);
    const TracedPayload* meant = meaning_of(root);
    side.roots.push_back({root, Ref<TracedPayload>(const_cast<TracedPayload*>(meant))});
    return;
  }
  const TracedPayload& p = payload(t);
  if (p.is_view()) return add_roots(p.base, around, choice, yes);
  if (p.choice) {
    p.choice->each_root([&](const auto& root) {
      side.unclear = true;
      add_roots(root.tensor, around, choice, yes);
    });
  } else if (entry_values_.count(p.value)) {  // what a loop's variable was: nobody knows in which round
    side.unclear = true;
    for (const Tensor& x : around) add_roots(x, {}, choice, yes);
  }
}

void Trace::note_choice(const Tensor& result, const Tensor& condition, const Tensor& yes, const Tensor& no,
                        const Tensors& around) {
  if (is_array(result) || lasting_) return;
  auto choice = std::make_shared<TracedPayload::Choice>();
  for (bool is_yes : {true, false}) {
    const Tensor& t = is_yes ? yes : no;
    if (!t.is_traced()) capture(t);
    add_roots(t, around, *choice, is_yes);
    Side& side = is_yes ? choice->yes : choice->no;
    if (!side.roots.empty() || side.unclear) side.tensor = t;
  }
  if (!choice->yes.tensor.defined() && !choice->no.tensor.defined()) return;
  choice->condition = tensor_of(value_of(condition), true);
  payload(result).choice = std::move(choice);
}

Tensors Trace::looked_into(const TraceRegion& body, const Tensors& entries, const Tensors& outs,
                           const Tensor& of) const {
  Tensors found;
  std::unordered_set<const TensorImpl*> seen;
  std::function<void(Tensor)> visit = [&](Tensor t) {
    while (t.is_traced() && payload(t).is_view()) t = payload(t).base;
    if (!seen.insert(t.impl()).second) return;
    for (size_t k = 0; k < body.args().size(); ++k) {
      if (!t.same(body.args()[k])) continue;
      if (k < entries.size() && entries[k].defined()) found.push_back(entries[k]);
      if (k < outs.size() && outs[k].defined()) visit(outs[k]);
      return;
    }
    if (in_reach(t))
      found.push_back(t);
    else if (payload(t).choice)
      payload(t).choice->each_root([&](const auto& root) { visit(root.tensor); });
  };
  visit(of);
  return found;
}

// Where a segment has run there is no way back: what its end couldn't settle is left to Python beforehand.
void Trace::check_choice(const Tensor& yes, const Tensor& no) const {
  if (!can_break() || num_segments_ == 0) return;
  TracedPayload::Choice choice;
  for (bool is_yes : {true, false}) {
    const Tensor& t = is_yes ? yes : no;
    if (!t.is_traced()) continue;
    add_roots(t, {}, choice, is_yes);
    const Side& side = is_yes ? choice.yes : choice.no;
    if (side.unclear || (!side.roots.empty() && !can_hoist(t))) fail_unclear();
  }
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

bool Trace::can_hoist(const Tensor& t) const {
  if (in_reach(t)) return true;
  const TracedPayload& p = payload(t);
  if (!p.is_view() || !can_hoist(p.base)) return false;
  for (size_t i = 0; p.view_op && i < p.view_op->num_operands(); ++i)
    // An index that isn't a number may be out of range where the branch doesn't run.
    if (i != p.view_operand && p.view_op->operand(i) && !pir::known_value(p.view_op->operand(i))) return false;
  return true;
}

// A tensor of a branch's inside, made again where the branch is over.
Tensor Trace::hoisted(const Tensor& t) {
  if (in_reach(t)) return t;
  if (!can_hoist(t)) fail_unclear();
  const TracedPayload& p = payload(t);
  Tensor base = hoisted(p.base);
  if (!p.view_op) return detached(base);
  std::vector<pir::Value> operands = p.view_op->operands();
  for (size_t i = 0; i < operands.size(); ++i)
    if (i != p.view_operand) operands[i] = hoisted_operand(operands[i]);
  Ref<TracedPayload> again = computed_again(p, std::move(operands), base);
  Tensor made = tensor_of(again->value, base.stop_gradient(), t.place());
  made->payload = again;
  return made;
}

// The value anew, where a tensor that it may be was written since.
void Trace::refresh_choice(const Tensor& t) {
  Ref<TracedPayload> p = payload_of(t);
  const TracedPayload::Choice& choice = *p->choice;
  auto written = [&](const Side& side) {
    bool any = false;
    for (const auto& root : side.roots) {
      refreshed(root.tensor);
      any |= payload_of(root.tensor) != root.meant;
    }
    if (any && side.unclear) fail_unclear();
    return any;
  };
  const bool yes = written(choice.yes), no = written(choice.no);
  if (!yes && !no) return;
  GradMode recorded(true);
  Tensor own = tensor_of(p->value, p->history ? t.stop_gradient() : p->value.stop_gradient(), t.place());
  payload(own).history = p->history;
  auto value = [&](const Side& side, bool is_new) {
    if (!is_new) return own;
    Tensor now = hoisted(side.tensor);
    refreshed(now);
    return now;
  };
  auto next = std::make_shared<TracedPayload::Choice>(choice);
  Tensor chosen = ops::where(choice.condition, value(choice.yes, yes), value(choice.no, no));
  check(chosen.shape() == t.shape() && chosen.dtype() == t.dtype(), ErrorKind::kNotImplemented,
        "[to_static] a tensor that is a view in one branch only, of shape {} or another one, can't be followed",
        to_string(view(t.shape())));
  set_chosen(t, chosen, std::move(next));
}

// What the sides are now is what `value` was chosen from.
void Trace::set_chosen(const Tensor& t, const Tensor& value, std::shared_ptr<TracedPayload::Choice> choice) {
  choice->each_root([&](auto& root) { root.meant = payload_of(root.tensor); });
  log_write(t);
  Ref<TracedPayload> now = new_payload(value_of(value));
  now->version = payload_of(t)->version + 1;
  now->choice = std::move(choice);
  set_payload(t, now);
  if (!value.stop_gradient()) set_needs_grad(t);
}

void Trace::write_choice(const Tensor& t, const Tensor& value, bool recorded) {
  auto next = std::make_shared<TracedPayload::Choice>(*payload_of(t)->choice);
  const Tensor condition = next->condition;
  auto write_side = [&](Side& side, bool yes) {
    if (!side.tensor.defined()) return;
    if (side.unclear) fail_unclear();
    if (side.tensor.same(side.roots[0].tensor) && !observed(side.tensor)) {  // nobody will know
      side = {};
      return;
    }
    Tensor to = hoisted(side.tensor);
    GradMode mode(recorded);
    Tensor now = alias(to);
    write(to, yes ? ops::where(condition, value, now) : ops::where(condition, now, value), recorded);
  };
  write_side(next->yes, true);
  write_side(next->no, false);
  next->each_root([&](auto& root) { refreshed(root.tensor); });
  set_chosen(t, value, std::move(next));
}

bool Trace::chooses_shared_input(const TracedPayload& p) const {
  bool any = false;
  p.choice->each_root([&](const auto& root) { any |= shares_input(root.tensor); });
  return any;
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

// A segment ends: which tensor it is will be known when the segment has run.
std::vector<Trace::Chosen> Trace::choices_leaving() {
  std::vector<Chosen> list;
  for (const Tensor& t : std::vector<Tensor>(made_)) {
    if (!t.is_traced() || t.impl()->use_count() <= 2 || !payload(t).choice || !in_reach(t)) continue;
    refreshed(t);
    const auto choice = payload(t).choice;
    auto seen = [&](const Side& side) {
      return side.tensor.defined() &&
             (side.unclear || !side.tensor.same(side.roots[0].tensor) || observed(side.tensor));
    };
    auto settled = [&](const Side& side) {
      if (side.unclear) fail_unclear();
      return side.tensor.defined() ? hoisted(side.tensor) : Tensor();
    };
    if (seen(choice->yes) || seen(choice->no))
      list.push_back({t, choice->condition, settled(choice->yes), settled(choice->no)});
  }
  for (Chosen& c : list) payload(c.handle).choice = nullptr;
  return list;
}

}  // namespace paddle::dispatch
