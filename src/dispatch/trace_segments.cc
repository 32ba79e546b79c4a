// Segments: where Python needs a value, what was captured so far is run, every tensor of the trace that is still alive
// gets its elements, and the trace goes on with an empty program.
#include <algorithm>
#include <forward_list>

#include "api/call.h"
#include "dispatch/state.h"
#include "dispatch/trace.h"
#include "pir/op_args.h"
#include "pir/written_input.h"

namespace paddle::dispatch {
namespace {

TracedPayload& payload(const Tensor& t) { return *static_cast<TracedPayload*>(t->payload.get()); }

// Of a view's attributes, without running.
bool known_sizes(const pir::Operation& op) {
  std::vector<Dim> symbols;
  auto see = [&](const pir::Attribute& a) {
    if (a.kind() == pir::AttrKind::kDim) symbols_of(a.as_dim(), symbols);
    if (a.kind() == pir::AttrKind::kIntArray)
      for (Dim d : a.as_ints()) symbols_of(d, symbols);
  };
  for (const pir::NamedAttr& a : op.attrs()) see(a.value);
  for (pir::Value v : op.operands())
    if (v && v.is_result())
      for (const pir::NamedAttr& a : v.defining_op()->attrs()) see(a.value);
  return std::all_of(symbols.begin(), symbols.end(), [](Dim d) { return has_hint(d); });
}

// Two handles of one tensor: what is written through `handle` is the history of `t`, too, and of whom that looks into.
void become_one(Tensor& handle, const Tensor& t) {
  const bool leaf = !t.stop_gradient() && !t->grad_fn;
  if (leaf) leaf_grad(t);  // makes what both share
  handle.become(t);
  handle.set_stop_gradient(t.stop_gradient());
  if (leaf) {
    handle->autograd = t->autograd;
    return;
  }
  handle->base = t->base ? t->base : Ref<TensorImpl>(t.impl());
  handle->base_generation = t->base ? t->base_generation : t->generation;
}

bool among(const Tensors& list, const Tensor& t) {
  return std::any_of(list.begin(), list.end(), [&](const Tensor& x) { return x.same(t); });
}

}  // namespace

// A view of what a segment computes: computed again when the base's elements are known, so that writes still go
// through.
struct Trace::ViewAgain {
  Tensor handle, base;
  const OpInfo* op = nullptr;  // null: the base without its history
  uint8_t result = 0;
  int32_t item = -1;
  std::unique_ptr<pir::BoundArgs> args;

  // Sizes are those of this call.
  static Dim seen(Dim d) { return d.is_const() ? d : Dim(d.hint()); }

  void run() {
    if (!op) {
      handle.become(base);
      handle->grad_fn = nullptr;
      return handle.set_stop_gradient(true);
    }
    std::vector<Arg> list(args->args().begin(), args->args().end());
    std::forward_list<Ints> ints;
    std::forward_list<Scalar> scalars;
    for (Arg& a : list) {
      if (a.tag() == Arg::Tag::kInts && a.ints().resolved() && !is_static(paddle::view(a.ints().values()))) {
        Shape values;
        for (Dim d : a.ints().values()) values.push_back(seen(d));
        a = Arg(ints.emplace_front(values));
      }
      if (a.tag() == Arg::Tag::kScalar && a.scalar().kind() == Scalar::Kind::kDim)
        a = Arg(scalars.emplace_front(seen(a.scalar().dim()).value()));
    }
    OpCall c(*op, list);
    GradMode mode(!handle.stop_gradient());
    dispatch::call(c);
    const Tensor& view = item < 0 ? c.out(result) : c.out_list(result)[static_cast<size_t>(item)];
    bool stop = handle.stop_gradient() || view.stop_gradient();
    handle.become(view);
    handle.set_stop_gradient(stop);
    handle->base = view->base;
    handle->generation = view->generation;
    handle->base_generation = view->base_generation;
  }
};

// One of two tensors itself, now that the condition is known.
void Trace::Chosen::settle() {
  const bool holds = Scalar(condition).to_bool();
  if (const Tensor& is = holds ? yes : no; is.defined()) become_one(handle, is);
}

// Views and choices, each after what it looks into or is one of.
void Trace::look_again(std::vector<ViewAgain>& views, std::vector<Chosen>& chosen) {
  auto waits = [&](const Tensor& t) {
    auto is = [&](const auto& x) { return x.handle.same(t); };
    return t.defined() &&
           (std::any_of(views.begin(), views.end(), is) || std::any_of(chosen.begin(), chosen.end(), is));
  };
  while (!views.empty() || !chosen.empty()) {
    auto view = std::find_if(views.begin(), views.end(), [&](const ViewAgain& v) { return !waits(v.base); });
    if (view != views.end()) {
      view->run();
      views.erase(view);
      continue;
    }
    auto choice =
        std::find_if(chosen.begin(), chosen.end(), [&](const Chosen& c) { return !waits(c.yes) && !waits(c.no); });
    PD_INVARIANT(choice != chosen.end());
    choice->settle();
    chosen.erase(choice);
  }
}

void Trace::allow_segments(SegmentRunner run) {
  run_segment_ = std::move(run);
  made_ = inputs_;
}

void Trace::note_made(const Tensor& t) {
  if (made_.size() >= made_limit_) {
    std::erase_if(made_, [](const Tensor& x) { return x.impl()->use_count() == 1; });
    made_limit_ = std::max<size_t>(1024, 2 * made_.size());
  }
  made_.push_back(t);
}

bool Trace::depends_on_history() const {
  auto has = [](const Tensor& t) { return t->grad_fn && !t.stop_gradient(); };
  return std::any_of(given_.begin(), given_.end(), has) ||
         std::any_of(captures_.begin(), captures_.end(), [&](const auto& c) { return has(c.second.handle); });
}

void Trace::break_here(const char* why) {
  if (can_break()) return flush(why);
  pir::Location at = current_location();
  throw GraphBreak(ErrorKind::kRuntime, fmt::format("[{}] this can't be part of a captured program{}", why,
                                                    at ? " (at " + at.str() + ")" : std::string()));
}

bool Trace::make_readable(const Tensor& t, const char* why) {
  if (!run_segment_) return false;
  if (!t.is_traced()) {
    auto it = captures_.find(t.impl());
    if (it == captures_.end() || it->second.now == it->second.original) return true;  // as it was before the trace
  }
  if (!can_break()) return false;
  flush(why);
  return true;
}

// Tensors of the trace that someone outside of it holds: those with values of their own, then views, bases first.
Trace::Living Trace::living() {
  writes_.front().clear();
  Living out;
  auto& [plain, views, lists] = out;
  std::function<void(const Tensor&)> take = [&](const Tensor& t) {
    if (among(inputs_, t) || among(plain, t) || among(views, t)) return;
    refreshed(t);
    const TracedPayload& p = payload(t);
    const bool again = p.is_view() && (p.view_op ? known_sizes(*p.view_op) : t.stop_gradient());
    if (!again) return plain.push_back(t);
    if (Tensor base = payload(t).base; base.is_traced()) take(base);
    views.push_back(t);
  };
  for (size_t k = 0; k < made_.size(); ++k) {  // refreshing may make more
    Tensor t = made_[k];
    if (t.impl()->use_count() <= 2 || !t.is_traced()) continue;
    // A tensor of a branch's or loop's inside is nothing here.
    if (payload(t).home != blocks_.front())
      payload(t).value = pir::Value();
    else if (is_array(t))
      lists.push_back(t);
    else
      take(t);
  }
  for (Tensor& t : lists)
    check(has_rows(t) || t.stop_gradient(), ErrorKind::kNotImplemented,
          "[to_static] a list that grew in a loop of tensor-dependent length, with items of different sizes that need "
          "gradients, is in use: the capture can't be interrupted here");
  return out;
}

// Tensors from outside that are new at each call are inputs; parameters and the like are known by identity.
void Trace::captures_to_inputs(CapturedProgram& program, Tensors& inputs) {
  std::unordered_map<std::string, size_t> position;
  for (TensorImpl* impl : capture_order_) {
    const Capture& c = captures_.at(impl);
    if (c.handle->is_parameter || c.handle->persistable || c.handle.is_dist()) continue;
    pir::Operation* old = c.original->value.defining_op();
    pir::Type type = old->result().type();
    size_t i = program.inputs.size();
    std::string name = "in_" + std::to_string(i);
    pir::Builder b;
    b.before(old);
    pir::Operation* in = b.create("pd_op.data", {},
                                  {{"name", pir::Attribute::string(name)},
                                   {"shape", pir::Attribute::ints(view(type.shape()))},
                                   {"dtype", pir::Attribute::dtype(type.dtype())},
                                   {"place", pir::Attribute::undefined_place()}},
                                  {type});
    bool stop = c.handle.stop_gradient();
    in->result().set_stop_gradient(stop);
    old->result().replace_all_uses_with(in->result());
    old->erase();
    program.program.erase_parameter(c.name);
    program.inputs.push_back({name, type.shape(), type.dtype(), stop});
    inputs.push_back(c.handle);
    position.emplace(c.name, i);
  }
  for (pir::Operation* op : program.program.block().ops()) {
    if (!op->is("builtin.set_parameter")) continue;
    auto it = position.find(op->attr("parameter_name").as_string());
    if (it == position.end()) continue;
    std::string name = "write_" + std::to_string(it->second);
    pir::Builder b;
    // With the other results: those of parameters come after them.
    b.before(op);
    b.shadow_output(name, op->operand(0))
        ->set_attr(pir::kWritesInput, pir::Attribute::string(program.inputs[it->second].name));
    program.input_writes.push_back({it->second, name});
    op->erase();
  }
}

// Does the call write elements, outside of the trace, that other tensors look at too, or that have a history?
bool Trace::writes_shared(const OpCall& c) const {
  if (!c.inplace && !c.op.has(kInplaceOnly)) return false;
  for (const OutInfo& out : c.op.outs) {
    if (out.inplace_of < 0) continue;
    for (const Tensor& t : c.args[static_cast<size_t>(out.inplace_of)].tensors_or_empty()) {
      if (!t.defined() || t.is_traced() || !t.is_dense() || t->persistable || t->is_parameter) continue;
      if (t->base || t->storage->use_count() > 1 || (t->grad_fn && !t.stop_gradient())) return true;
    }
  }
  return false;
}

// A tensor may have been made since where another one was: then the sizes are others, or as good.
const Shape* Trace::sizes_of(const Tensor& t) const {
  if (sizes_.empty()) return nullptr;
  auto it = sizes_.find(t.impl());
  if (it == sizes_.end() || t.is_traced() || it->second.size() != t.shape().size()) return nullptr;
  for (size_t i = 0; i < it->second.size(); ++i)
    if (it->second[i].hint() != t.shape()[i].value()) return nullptr;
  return &it->second;
}

void Trace::keep_sizes(const Tensor& t, const Shape& sizes) {
  const bool known = std::all_of(sizes.begin(), sizes.end(), [](Dim d) { return d.is_const() || has_hint(d); });
  if (known && !is_static(paddle::view(sizes))) sizes_[t.impl()] = sizes;
}

void Trace::start_over() {
  abandon_regions();
  program_ = pir::Program();
  last_capture_ = nullptr;
  blocks_ = {&program_.block()};
  builder_.to_end(blocks_.back());
  writes_.assign(1, {});
  moved_.clear();
  inputs_.clear();
  input_payloads_.clear();
  input_infos_.clear();
  captures_.clear();
  capture_order_.clear();
  grads_.clear();
  grad_reads_.clear();
  spent_.clear();
  absent_grads_.clear();
  names_.clear();
  detached_.clear();
  guards_.clear();
  made_.clear();
  entangled_.clear();
  same_inputs_.clear();
}

void Trace::flush(const char* why) {
  PD_INVARIANT(can_break());
  std::vector<Chosen> chosen = choices_leaving();
  ++num_segments_;
  std::string where = current_location().str();
  grads_.clear();  // .grad is among what is alive
  grad_reads_.clear();
  const std::vector<Hook*> leaving = hooks_leaving();
  auto [plain, views, lists] = living();
  // Tensors from outside that were written and have a history get that of the result.
  std::vector<std::pair<Tensor, size_t>> rewritten;
  Tensors outputs = plain;
  const size_t first_list = outputs.size();
  for (const Tensor& t : lists) outputs.push_back(has_rows(t) ? array_rows(*this, t) : t);
  auto note_rewritten = [&](const Tensor& handle, const Ref<TracedPayload>& original, const Tensor& actual) {
    const Tensor value = this->rewritten(handle, original);
    if (!value.defined()) return;
    rewritten.emplace_back(actual, outputs.size());
    outputs.push_back(value);
  };
  for (size_t i = 0; i < inputs_.size(); ++i) note_rewritten(inputs_[i], input_payloads_[i], given_[i]);
  for (TensorImpl* impl : std::vector<TensorImpl*>(capture_order_)) {
    const Capture c = captures_.at(impl);
    note_rewritten(c.handle, c.original, c.handle);
  }
  std::vector<ViewAgain> again;
  for (const Tensor& v : views) {
    const TracedPayload& view = payload(v);
    Tensor base = view.base;
    if (!view.view_op) {
      again.push_back({v, base, nullptr, 0, -1, nullptr});
      continue;
    }
    pir::Operation& op = *view.view_op;
    pir::Value source = op.operand(view.view_operand);
    auto operand = [&, base = base](pir::Value x) {
      OutSlot s;
      if (x.type().is_vector()) {  // bounds of a slice, each a number or a tensor
        PD_INVARIANT(x.is_result() && x.defining_op()->is("builtin.combine"));
        for (pir::Value item : x.defining_op()->operands()) {
          outputs.push_back(tensor_of(item, true));
          s.list.push_back(outputs.back());
        }
        return s;
      }
      s.tensor = base;
      if (x != source) outputs.push_back(s.tensor = tensor_of(x, true));
      return s;
    };
    again.push_back(
        {v, base, op.info(), view.view_result, view.view_item, std::make_unique<pir::BoundArgs>(op, operand)});
  }
  bool nothing = outputs.empty() && views.empty();
  for (const auto& [impl, c] : captures_) nothing &= c.now == c.original;
  for (size_t i = 0; i < inputs_.size(); ++i) nothing &= refreshed(inputs_[i]) == input_payloads_[i]->value;
  program_.walk([&](pir::Operation& op) { nothing &= !op.has(kSideEffect); });
  CapturedProgram program = collect(outputs, false);
  program.same_tensors.clear();  // what is alive becomes what it was, here
  Tensors given = std::exchange(given_, {}), handles = inputs_, inputs = given;
  for (size_t i = 0; i < handles.size(); ++i) keep_sizes(handles[i], handles[i].shape());
  for (const Tensor& t : outputs) keep_sizes(t, t.shape());
  for (const Tensor& t : views) keep_sizes(t, t.shape());
  captures_to_inputs(program, inputs);
  generator().set_state(generator_state_);
  start_over();
  {
    StackScope eager;
    GradMode on(true);
    Tensors results = run_segment_(nothing ? nullptr : &program, inputs, why, where);
    generator_state_ = generator().state();
    for (auto& [t, k] : rewritten) take_history(t, results[k]);
    for (size_t i = 0; i < handles.size(); ++i) {
      become_one(handles[i], given[i]);
    }
    for (size_t k = 0; k < lists.size(); ++k) outputs[first_list + k] = lists[k];
    for (size_t k = 0; k < outputs.size(); ++k) {
      outputs[k].become(results[k]);
      outputs[k].set_stop_gradient(results[k].stop_gradient());
    }
    look_again(again, chosen);
    for (Hook* h : leaving) h->remove = h->eagerly(h->handle);
  }
}

}  // namespace paddle::dispatch
