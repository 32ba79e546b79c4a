// Trace: its life from the first input to the finished program. What handles mean is in trace_values.cc, what a call
// appends in trace_call.cc; regions are in trace_regions.cc.
#include "dispatch/trace.h"

#include <algorithm>

#include "api/ops.h"
#include "dispatch/complete_rounds.h"
#include "dispatch/lasting.h"
#include "dispatch/state.h"
#include "pir/recompute.h"
#include "pir/written_input.h"

namespace paddle::dispatch {

thread_local constinit Trace* active_trace = nullptr;
namespace {

pir::Location nowhere() { return {}; }

// Puts an interpreter below all others: autocast and its like, on or switched on later, stand above the trace.
void insert_at_bottom(Interpreter* i) {
  ThreadState& s = state();
  PD_INVARIANT(s.depth < s.stack.size());
  for (size_t k = s.depth; k > 0; --k) s.stack[k] = s.stack[k - 1];
  s.stack[0] = i;
  ++s.depth;
}

void remove_anywhere(Interpreter* i) {
  ThreadState& s = state();
  size_t to = 0;
  for (size_t k = 0; k < s.depth; ++k)
    if (s.stack[k] != i) s.stack[to++] = s.stack[k];
  s.depth = static_cast<uint8_t>(to);
}

}  // namespace

pir::Location (*current_location)() = nowhere;
Tensor& (*leaf_grad)(const Tensor& leaf) = nullptr;
void (*complete_rounds)(Trace& trace, TraceRegion& body, Tensors& inits, Tensors& next_values) = nullptr;
bool (*is_zeros)(const Tensor& leaf) = nullptr;
void (*take_history)(const Tensor& written, const Tensor& value) = nullptr;
void (*follow_history)(const Tensor& view) = nullptr;

void check_value_readable(const Tensor& t, const char* what) {
  if (!tracing() && !t.is_traced()) [[likely]]
    return;
  // A program that is built over time is run apart from that: what has elements keeps them.
  if (!t.is_traced() && t.is_dense() && lasting_trace(Trace::active())) return;
  if (Trace* trace = Trace::active(); trace && trace->make_readable(t, what)) return;
  pir::Location at = current_location();
  throw GraphBreak(
      ErrorKind::kRuntime,
      fmt::format("[{}] a tensor's value is needed here, but it is not known while a program is captured{}", what,
                  at ? " (at " + at.str() + ")" : std::string()));
}

StackScope::StackScope(Interpreter* only) : trace_(active_trace) {
  ThreadState& s = state();
  saved_.assign(s.stack.begin(), s.stack.begin() + s.depth);
  s.depth = 0;
  active_trace = nullptr;
  if (!only) return;
  push(only);
  active_trace = dynamic_cast<Trace*>(only);
}

StackScope::~StackScope() {
  ThreadState& s = state();
  std::copy(saved_.begin(), saved_.end(), s.stack.begin());
  s.depth = static_cast<uint8_t>(saved_.size());
  active_trace = trace_;
}

Trace::Trace(std::string name) : name_(std::move(name)) {
  blocks_.push_back(&program_.block());
  builder_.to_end(blocks_.back());
  writes_.emplace_back();
  generator_state_ = generator().state();
  install();
}

Trace::Trace(std::string name, pir::Program&& program) : name_(std::move(name)), program_(std::move(program)) {
  blocks_.push_back(&program_.block());
  builder_.to_end(blocks_.back());
  writes_.emplace_back();
  generator_state_ = generator().state();
  for (pir::Operation& op : program_.block()) {
    if (op.is("builtin.parameter")) last_capture_ = &op;
    if (pir::Attribute key = op.attr(pir::kRandomKey)) next_mark_ = std::max(next_mark_, key.as_int() + 1);
    for (int64_t id : pir::recompute_path(op)) next_mark_ = std::max(next_mark_, id + 1);
    pir::Attribute a = op.attr("parameter_name");
    if (a) names_[a.as_string()] = 1;
  }
  sink_ = std::make_unique<DimGuardSink>(&guards_);
}

void Trace::abandon_regions() {
  // One may use what another one computes.
  for (TraceRegion* r : regions_) r->region_.drop_references();
  for (TraceRegion* r : regions_) {
    r->region_.clear();
    r->trace_ = nullptr;
  }
  regions_.clear();
  entry_values_.clear();
}

Trace::~Trace() {
  abandon_regions();
  forget_needs();
  // An aborted capture leaves no trace outside.
  for (Grad& g : grads_) {
    leaf_grad(g.leaf) = g.before;
  }
  if (installed_) uninstall();
  if (lasting_) forget();
}

void Trace::install() {
  check(active_trace == nullptr, ErrorKind::kRuntime, "[to_static] a program is being captured on this thread already");
  sink_ = std::make_unique<DimGuardSink>(&guards_);
  insert_at_bottom(this);
  active_trace = this;
  installed_ = true;
}

void Trace::uninstall() {
  remove_anywhere(this);
  if (active_trace == this) active_trace = nullptr;
  sink_.reset();
  installed_ = false;
  // What was drawn while tracing is drawn again by the program.
  generator().set_state(generator_state_);
}

std::string Trace::unique_name(std::string wanted) {
  int& n = names_[wanted];
  if (n++ == 0) return wanted;
  std::string name;
  do {
    name = wanted + "_" + std::to_string(n++);
  } while (names_.count(name));
  names_[name] = 1;
  return name;
}

Tensor Trace::add_input(const std::string& name, const Shape& shape, DType dtype, bool stop_gradient, bool leaf) {
  std::string unique = unique_name(name.empty() ? "x" + std::to_string(inputs_.size()) : name);
  pir::Operation* op = builder_.create("pd_op.data", {},
                                       {{"name", pir::Attribute::string(unique)},
                                        {"shape", pir::Attribute::ints(view(shape))},
                                        {"dtype", pir::Attribute::dtype(dtype)},
                                        {"place", pir::Attribute::undefined_place()}},
                                       {pir::Type::tensor(dtype, shape)});
  last_capture_ = op;
  op->result().set_stop_gradient(stop_gradient);
  Tensor t = tensor_of(op->result(), stop_gradient);
  inputs_.push_back(t);
  input_payloads_.push_back(Ref<TracedPayload>(static_cast<TracedPayload*>(t->payload.get())));
  input_infos_.push_back({unique, shape, dtype, stop_gradient, leaf});
  return t;
}

Ref<TracedPayload> Trace::new_payload(pir::Value v) {
  Ref<TracedPayload> p = make_ref<TracedPayload>();
  p->value = v;
  p->trace = id_;
  p->home = blocks_.back();
  return p;
}

Tensor Trace::tensor_of(pir::Value v, bool stop_gradient, Place place) {
  pir::Type type = v.type();
  Tensor t = Tensor::meta(view(type.shape()), type.dtype(), place);
  t->payload = new_payload(v);
  t->bits = static_cast<uint8_t>(kTraced | (stop_gradient ? 0 : kNeedsGrad));
  if (run_segment_) note_made(t);
  return t;
}

Trace::Capture& Trace::capture(const Tensor& t) {
  auto it = captures_.find(t.impl());
  if (it != captures_.end()) return it->second;
  check(lasting_ || t.is_dense() || t.is_dist(), ErrorKind::kNotImplemented,
        "[to_static] a tensor of this kind can't be captured from outside");
  if (t->base && follow_history) follow_history(t);
  Capture c;
  c.handle = t;
  c.name = unique_name(t->name ? *t->name : "captured_" + std::to_string(captures_.size()));
  const pir::OpDef& def = pir::op_def("builtin.parameter");
  const Shape* sizes = t->persistable || t->is_parameter ? nullptr : sizes_of(t);
  pir::Type type = pir::Type::tensor(t.dtype(), sizes ? *sizes : t.shape());
  pir::Operation* op =
      pir::Operation::create(def, {}, {{"parameter_name", pir::Attribute::string(c.name)}}, {&type, 1}, 0, {});
  pir::Block& top = *blocks_.front();
  if (last_capture_)
    top.insert(last_capture_->next(), op);
  else
    top.push_front(op);
  last_capture_ = op;
  op->result().set_stop_gradient(t.stop_gradient());
  op->result().set_attr("persistable", pir::Attribute::boolean(t->persistable || t->is_parameter));
  if (t->is_parameter) op->set_attr("is_parameter", pir::Attribute::boolean(true));
  program_.set_parameter(c.name, t);
  c.original = new_payload(op->result());
  c.original->home = blocks_.front();
  c.now = c.original;
  capture_order_.push_back(t.impl());
  captures_.emplace(t.impl(), std::move(c));
  if (!lasting_ && t.is_dense() && (related_ || t->storage->use_count() > 1))
    note_shared({t, t, captures_.at(t.impl()).original});
  return captures_.at(t.impl());
}

pir::Operation* Trace::emit(const pir::OpDef& def, std::span<const pir::Value> operands, pir::AttrMap attrs,
                            std::span<const pir::Type> results) {
  builder_.set_loc(current_location());
  ++edits_;
  if (role_) attrs.set("op_role", pir::Attribute::i32(role_));
  return mark(builder_.create(def, operands, std::move(attrs), results));
}

pir::Operation* Trace::mark(pir::Operation* op) {
  if (!marks.path.empty()) op->set_attr(pir::kRecompute, pir::Attribute::i64s(marks.path));
  if (!op->has(kRandom)) return op;
  // In a loop one operation draws many times: it has no name, and what it made is kept.
  const bool once = blocks_.size() == 1;
  std::optional<int64_t> key = marks.key;
  if (!key && !marks.path.empty() && marks.preserve_rng && once) key = fresh_mark();
  if (key) op->set_attr(pir::kRandomKey, pir::Attribute::i64(*key));
  if (key && marks.replayed) op->set_attr(pir::kReplayed, pir::Attribute::boolean(true));
  return op;
}

pir::Value Trace::entry_value(pir::Value arg) const {
  auto it = entry_values_.find(arg);
  return it == entry_values_.end() ? pir::Value() : it->second;
}

std::vector<Tensor> Trace::leaves() const {
  std::vector<Tensor> out;
  for (const Tensor& t : inputs_)
    if (!t.stop_gradient()) out.push_back(t);
  for (TensorImpl* impl : capture_order_) {
    const Capture& c = captures_.at(impl);
    if (!c.learns && !c.handle.stop_gradient() && is_inexact(c.handle.dtype())) out.push_back(c.handle);
  }
  return out;
}

Tensor Trace::grad_of(const Tensor& leaf, bool with_zeros) {
  Tensor g = leaf_grad(leaf);
  if (g.defined() && g.is_traced()) return g;
  if (!g.defined() || (!with_zeros && is_zeros && is_zeros(leaf))) {
    if (leaf.stop_gradient() && !g.defined()) return {};
    bool known = false;
    for (const Grad& x : grads_) known |= x.leaf.same(leaf);
    if (!known) absent_grads_.emplace(leaf.impl(), leaf);
    return {};
  }
  // A gradient from before: the program reads it anew at every run.
  for (const Grad& known : grads_)
    if (known.leaf.same(leaf)) return g;
  bool known = captures_.count(g.impl());
  Capture& c = capture(g);
  if (!known) grad_reads_.push_back({c.name, leaf});
  return g;
}

void Trace::set_grad(const Tensor& leaf, const Tensor& g, bool zeros) {
  auto known = std::find_if(grads_.begin(), grads_.end(), [&](const Grad& x) { return x.leaf.same(leaf); });
  if (known == grads_.end()) known = grads_.insert(grads_.end(), {leaf, leaf_grad(leaf), false});
  known->zeros = zeros;
  leaf_grad(leaf) = g;
}

bool Trace::is_spent(pir::Value v) const {
  std::vector<pir::Value> waiting{v};
  std::unordered_set<const pir::Operation*> seen;
  while (!waiting.empty()) {
    const pir::Value at = waiting.back();
    waiting.pop_back();
    if (!at || !at.is_result()) continue;
    const pir::Attribute stops = at.attr("stop_gradient");
    if (stops && stops.kind() == pir::AttrKind::kBool && stops.as_bool()) continue;
    const pir::Operation* op = at.defining_op();
    if (spent_.count(op)) return true;
    if (!seen.insert(op).second) continue;
    for (pir::Value operand : op->operands()) waiting.push_back(operand);
  }
  return false;
}

CapturedProgram Trace::finish(const Tensors& outputs, bool histories) {
  CapturedProgram result = collect(outputs, histories);
  if (installed_) uninstall();
  return result;
}

void Trace::add_histories(Tensors& outputs, CapturedProgram& result) {
  auto add = [&](const Tensor& value, CapturedProgram::NewHistory h) {
    if (!value.defined()) return;
    h.output = outputs.size();
    outputs.push_back(value);
    result.new_histories.push_back(std::move(h));
  };
  for (size_t i = 0; i < inputs_.size(); ++i) add(rewritten(inputs_[i], input_payloads_[i]), {0, {}, i});
  for (size_t i = 0; i < capture_order_.size(); ++i) {  // may capture more while it runs
    const Capture c = captures_.at(capture_order_[i]);
    add(rewritten(c.handle, c.original), {0, c.name});
  }
}

CapturedProgram Trace::collect(Tensors outputs, bool histories) {
  CapturedProgram result;
  result.same_inputs = same_inputs_;
  const size_t asked_for = outputs.size();
  if (histories) add_histories(outputs, result);
  auto shadow = [&](const std::string& name, pir::Value v) {
    builder_.set_loc({});
    return builder_.shadow_output(name, v);
  };
  Tensors roots;
  for (const Tensor& t : outputs) {
    refreshed(t);
    const Tensor root = root_of(t);
    const bool outside = !root.is_traced() || payload_of(root)->choice ||
                         std::any_of(inputs_.begin(), inputs_.end(), [&](const Tensor& x) { return x.same(root); });
    const auto known = std::find_if(roots.begin(), roots.end(), [&](const Tensor& x) { return x.same(root); });
    result.output_memory.push_back(outside ? -1 : static_cast<int>(known - roots.begin()));
    if (known == roots.end()) roots.push_back(root);
    std::string name = "output_" + std::to_string(result.num_outputs++);
    bool stop = t.stop_gradient();
    pir::Value v = value_of(t);
    shadow(name, v);
    if (auto c = captures_.find(t.impl()); c != captures_.end() && result.num_outputs <= asked_for)
      result.same_tensors.push_back({result.num_outputs - 1, c->second.name});
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (inputs_[i].same(t)) result.same_tensors.push_back({result.num_outputs - 1, {}, i});
    result.output_names.push_back(name);
    result.output_stop_gradient.push_back(stop);
    result.output_spent.push_back(!stop && !spent_.empty() && is_spent(v));
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    pir::Value v = refreshed(inputs_[i]);
    if (v == input_payloads_[i]->value || payload_of(inputs_[i])->is_view()) continue;  // a view's memory is its base's
    std::string name = "write_" + std::to_string(i);
    pir::Operation* input = input_payloads_[i]->value.defining_op();
    shadow(name, v)->set_attr(pir::kWritesInput, input->attr("name"));
    result.input_writes.push_back({i, name});
  }
  for (size_t i = 0; i < grads_.size(); ++i) {
    Tensor now = leaf_grad(grads_[i].leaf);
    std::string name;
    if (now.defined()) {
      name = "grad_" + std::to_string(i);
      shadow(name, value_of(now));
    }
    bool absent = absent_grads_.erase(grads_[i].leaf.impl()) > 0;
    auto input = std::find_if(inputs_.begin(), inputs_.end(), [&](const Tensor& t) { return t.same(grads_[i].leaf); });
    const int at = input == inputs_.end() ? -1 : static_cast<int>(input - inputs_.begin());
    result.grad_writes.push_back({grads_[i].leaf, name, grads_[i].zeros, absent, at});
    leaf_grad(grads_[i].leaf) = grads_[i].before;
  }
  grads_.clear();
  for (size_t i = 0; i < capture_order_.size(); ++i) {  // may capture more while it runs
    TensorImpl* impl = capture_order_[i];
    Tensor handle = captures_.at(impl).handle;
    pir::Value v = refreshed(handle);
    Capture& c = captures_.at(impl);
    if (v == c.original->value || c.now->is_view()) continue;
    builder_.set_parameter(c.name, v);
  }
  forget_needs();
  result.name = name_;
  result.program = std::move(program_);
  result.inputs = input_infos_;
  result.grad_reads = grad_reads_;
  result.guards = guards_;
  return result;
}

pir::Program Trace::take_program() {
  sink_.reset();
  return std::move(program_);
}

}  // namespace paddle::dispatch
