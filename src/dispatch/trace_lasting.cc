// Lasting traces: programs that are built over time, entered and left at will, and run as they stand (static mode).
#include <atomic>
#include <mutex>

#include "device/default_place.h"
#include "dispatch/lasting.h"
#include "dispatch/state.h"

namespace paddle::dispatch {
namespace {

struct Lasting {
  std::mutex mutex;
  std::unordered_map<uint64_t, Trace*> traces;
};
Lasting& lasting() {
  static auto* l = new Lasting;
  return *l;
}

}  // namespace

bool lasting_trace(const Trace* trace) {
  std::lock_guard lock(lasting().mutex);
  return trace && lasting().traces.count(trace->id());
}

Trace* Trace::owner(const Tensor& t) {
  if (!t.is_traced()) return nullptr;
  std::lock_guard lock(lasting().mutex);
  auto it = lasting().traces.find(static_cast<TracedPayload*>(t->payload.get())->trace);
  return it == lasting().traces.end() ? nullptr : it->second;
}

void Trace::forget() {
  std::lock_guard lock(lasting().mutex);
  lasting().traces.erase(id_);
}

uint64_t Trace::next_id() {
  static std::atomic<uint64_t> next{1};
  return next++;
}

Trace::Trace(Lasting, std::string name, pir::Program&& program)
    : name_(std::move(name)), program_(std::move(program)), lasting_(true) {
  blocks_.push_back(&program_.block());
  builder_.to_end(blocks_.back());
  writes_.emplace_back();
  {
    std::lock_guard lock(lasting().mutex);
    lasting().traces[id_] = this;
  }
  adopt();
}

void Trace::enter() {
  PD_INVARIANT(lasting_ && !installed_);
  generator_state_ = generator().state();
  install();
}

void Trace::leave() {
  PD_INVARIANT(lasting_ && installed_);
  check(blocks_.size() == 1, ErrorKind::kRuntime, "[static] a branch or loop is being built: finish it first");
  uninstall();
}

// Writes are kept as what the handles mean now, so operations that say the same go.
void Trace::adopt() {
  std::vector<pir::Operation*> writes;
  for (pir::Operation& op : program_.block()) {
    if (op.is("builtin.parameter")) {
      const std::string& name = op.attr("parameter_name").as_string();
      last_capture_ = &op;
      names_[name] = std::max(names_[name], 1);
      Tensor handle = program_.parameter(name);
      if (!handle.defined() && is_static(view(op.result().shape()))) {
        handle = Tensor::meta(view(op.result().shape()), op.result().dtype(), device::default_place());
        handle->name = std::make_unique<std::string>(name);
        handle->persistable = true;
        handle->is_parameter = op.has_attr("is_parameter");
        handle.set_stop_gradient(op.result().stop_gradient());
        program_.set_parameter(name, handle);
      }
      if (!handle.defined() || captures_.count(handle.impl())) continue;
      Capture c;
      c.handle = handle;
      c.name = name;
      c.original = new_payload(op.result());
      c.now = c.original;
      capture_order_.push_back(handle.impl());
      captures_.emplace(handle.impl(), std::move(c));
    } else if (op.is("pd_op.data") || op.is("pd_op.feed")) {
      const std::string& name = op.attr("name").as_string();
      last_capture_ = &op;
      if (names_.count(name)) continue;
      names_[name] = 1;
      pir::Value v = op.result();
      Tensor t = tensor_of(v, v.stop_gradient());
      t->name = std::make_unique<std::string>(name);
      named_[name] = t;
      inputs_.push_back(t);
      input_payloads_.push_back(Ref<TracedPayload>(static_cast<TracedPayload*>(t->payload.get())));
      input_infos_.push_back({name, v.shape(), v.dtype(), v.stop_gradient()});
    } else if (op.is("builtin.set_parameter")) {
      writes.push_back(&op);
    }
  }
  for (pir::Operation* op : writes) {
    const std::string name = op->attr("parameter_name").as_string();
    pir::Value v = op->operand(0);
    Tensor handle = program_.parameter(name);
    if (!handle.defined() && is_static(view(v.shape()))) {  // a start-up program only writes
      handle = Tensor::meta(view(v.shape()), v.dtype(), device::default_place());
      handle->name = std::make_unique<std::string>(name);
      handle->persistable = true;
    }
    if (!handle.defined()) continue;
    capture(handle).now = new_payload(v);
    op->erase();
  }
  ++edits_;
}

std::vector<Trace::Captured> Trace::captured() {
  std::vector<Captured> out;
  for (size_t i = 0; i < capture_order_.size(); ++i) {  // a view's base may join while it is brought up to date
    Tensor handle = captures_.at(capture_order_[i]).handle;
    pir::Value now = refreshed(handle);
    Capture& c = captures_.at(capture_order_[i]);
    out.push_back({c.name, handle, c.original->value, now});
  }
  return out;
}

pir::Program Trace::snapshot(pir::ValueMap& map, const std::function<bool(const Captured&)>& keeps) {
  std::vector<Captured> all = captured();
  pir::Program copy;
  copy.module().set_attrs(program_.module().attrs());
  pir::clone_block(program_.block(), copy.block(), map);
  for (const auto& [name, tensor] : program_.parameters()) copy.set_parameter(name, tensor);
  pir::Builder b(copy);
  for (const Captured& c : all)
    if (c.now != c.original && (!keeps || keeps(c))) b.set_parameter(c.name, pir::mapped(map, c.now));
  return copy;
}

void Trace::seal() {
  for (const Captured& c : captured())
    if (c.now != c.original) builder_.set_parameter(c.name, c.now);
}

void Trace::unseal() {
  std::unordered_map<std::string, pir::Operation*> parameters;
  for (pir::Operation& op : program_.block())
    if (op.is("builtin.parameter")) parameters[op.attr("parameter_name").as_string()] = &op;
  std::vector<TensorImpl*> kept;
  last_capture_ = nullptr;
  for (TensorImpl* impl : capture_order_) {
    Capture& c = captures_.at(impl);
    auto it = parameters.find(c.name);
    if (it == parameters.end()) {
      program_.erase_parameter(c.name);
      captures_.erase(impl);
      continue;
    }
    c.original = new_payload(it->second->result());
    c.now = c.original;
    kept.push_back(impl);
  }
  capture_order_ = std::move(kept);
  detached_.clear();
  builder_.to_end(blocks_.front());
  adopt();
}

pir::Value Trace::find(const Tensor& t) {
  if (t.is_traced() && static_cast<TracedPayload*>(t->payload.get())->trace != id_) return {};
  return refreshed(t);
}

Tensor Trace::named(const std::string& name) const {
  auto it = named_.find(name);
  if (it != named_.end()) return it->second;
  for (const auto& [impl, c] : captures_)
    if (c.name == name) return c.handle;
  return {};
}

}  // namespace paddle::dispatch
