// Branches, loops and lists of a program under construction.
#include "api/ops.h"
#include "dispatch/complete_rounds.h"
#include "dispatch/state.h"
#include "pir/op_def.h"

namespace paddle::dispatch {
namespace {

using pir::Attribute;
using pir::Block;
using pir::Type;
using pir::Value;

// The operations that captured Python needs and that no record describes.
[[maybe_unused]] const bool registered = [] {
  auto add = [](const char* name, std::vector<pir::OperandDef> operands, std::vector<pir::ResultDef> results,
                uint64_t traits = 0) {
    pir::OpDef d;
    d.name = name;
    d.dialect = "cf";
    d.operands = std::move(operands);
    d.results = std::move(results);
    d.traits = traits;
    pir::register_op(std::move(d));
  };
  auto one = [](const char* n) { return pir::OperandDef{n, false, false, false, -1}; };
  auto many = [](const char* n) { return pir::OperandDef{n, true, false, true, -1}; };
  pir::ResultDef out{"out", false, false, false};
  add("cf.array_create", {many("items")}, {out});
  add("cf.array_write", {one("array"), one("index"), one("item")}, {out});
  add("cf.array_read", {one("array"), one("index")}, {out});
  add("cf.array_length", {one("array")}, {out});
  add("cf.array_pop", {one("array"), one("index")}, {out});
  add("cf.array_stack", {one("array")}, {out});
  add("cf.array_concat", {one("array")}, {out});
  add("cf.array_zeros_like", {one("array")}, {out});
  add("cf.array_add", {one("a"), one("b")}, {out});
  add("cf.array_add_at", {one("array"), one("index"), one("item")}, {out});
  add("cf.array_insert", {one("array"), one("index"), one("item")}, {out});
  add("cf.array_unwrite", {one("array"), one("index"), one("length")}, {out});
  add("cf.array_unstack", {one("x")}, {out});
  add("cf.array_split", {one("x"), one("like")}, {out});
  add("cf.assert", {one("cond"), many("data")}, {}, uint64_t{kSideEffect});
  add("cf.print", {many("data")}, {}, uint64_t{kSideEffect});
  pir::OpDef call;
  call.name = "cf.host_call";
  call.dialect = "cf";
  call.operands = {many("inputs")};
  call.results = {{"outs", true, false, true}};
  call.traits = uint64_t{kSideEffect};
  pir::register_op(std::move(call));
  return true;
}();

Type with_fresh_sizes(Type t, const Shape& shape) {
  return t.kind() == pir::TypeKind::kTensorArray ? Type::tensor_like(pir::TypeKind::kTensorArray, t.dtype(), shape)
                                                 : Type::tensor(t.dtype(), shape);
}

// Sizes that two paths agree on stay; others only running tells.
Type joined(Type a, Type b) {
  check(a.dtype() == b.dtype(), ErrorKind::kType, "the branches give tensors of different dtypes: {} and {}",
        name_of(a.dtype()), name_of(b.dtype()));
  if (a == b) return a;
  if (a.kind() == pir::TypeKind::kTensorArray) return a;
  check(a.rank() == b.rank(), ErrorKind::kValue, "the branches give tensors of different ranks: shapes {} and {}",
        to_string(view(a.shape())), to_string(view(b.shape())));
  Shape shape = a.shape();
  for (size_t i = 0; i < shape.size(); ++i)
    if (!(shape[i] == b.shape()[i])) shape[i] = new_symbol();
  return with_fresh_sizes(a, shape);
}

std::vector<Value> yielded(Trace& trace, TraceRegion& region, const Tensors& outs, std::vector<bool>* stops,
                           const Tensor* first = nullptr) {
  GradMode recorded(true);  // what was written unrecorded passes its history on
  region.enter();
  std::vector<Value> values;
  try {
    if (first) values.push_back(trace.value_of(*first));
    for (const Tensor& t : outs) {
      values.push_back(trace.value_of(t));
      if (stops) stops->push_back(t.stop_gradient());
    }
  } catch (...) {
    region.exit();
    throw;
  }
  trace.builder().yield(values);
  region.exit();
  return values;
}

}  // namespace

TraceRegion::TraceRegion(Trace& trace, std::span<const Tensor> inits, std::span<const std::optional<Shape>> shapes,
                         const std::vector<bool>& needs_grad)
    : trace_(&trace) {
  std::vector<Value> values;  // asked for before anything is begun: one may be out of reach
  for (const Tensor& t : inits) values.push_back(trace.payload_of(t)->value);
  trace.regions_.push_back(this);
  pir::Block& block = region_.add_block();
  trace_->blocks_.push_back(&block);  // the arguments' home
  for (size_t i = 0; i < inits.size(); ++i) {
    Value init = values[i];
    Type type = init.type();
    Shape shape = i < shapes.size() && shapes[i] ? *shapes[i] : type.shape();
    Value arg = block.add_arg(with_fresh_sizes(type, shape));
    bool needs = i < needs_grad.size() && needs_grad[i];
    bool stop = (inits[i].stop_gradient() && !needs) || !is_inexact(type.dtype());
    arg.set_stop_gradient(stop);
    arg_values_.push_back(arg);
    trace_->entry_values_[arg] = init;
    args_.push_back(trace_->tensor_of(arg, stop, inits[i].place()));
  }
  trace_->blocks_.pop_back();
}

TraceRegion::TraceRegion(Trace& trace, std::span<const Type> gradients) : trace_(&trace) {
  trace.regions_.push_back(this);
  Block& block = region_.add_block();
  trace_->blocks_.push_back(&block);
  for (Type type : gradients) {
    Value arg = block.add_arg(type);
    arg.set_stop_gradient(false);
    args_.push_back(trace_->tensor_of(arg, false));
  }
  trace_->blocks_.pop_back();
}

TraceRegion::~TraceRegion() {
  if (!trace_) return;
  for (Value arg : arg_values_) trace_->entry_values_.erase(arg);
  std::erase(trace_->regions_, this);
}

void TraceRegion::enter() {
  check(trace_ != nullptr, ErrorKind::kRuntime, "[to_static] this capture was given up");
  trace_->blocks_.push_back(&block());
  trace_->writes_.emplace_back();
  trace_->builder_.to_end(&block());
  for (const Trace::Written& w : inside_) {
    trace_->log_write(w.handle);
    trace_->set_payload(w.handle, w.before);
    w.handle->bits = w.bits;
  }
}

void TraceRegion::exit() {
  if (!trace_) return;
  PD_INVARIANT(trace_->blocks_.back() == &block());
  auto restore = [&](const Trace::Written& w) {
    trace_->set_payload(w.handle, w.before);
    w.handle->dtype = w.dtype;
    w.handle->shape = w.shape;
    w.handle->bits = w.bits;
  };
  for (Trace::Written& w : trace_->writes_.back()) {
    if (w.before->home == &block()) continue;  // made inside
    Ref<TracedPayload> now = trace_->payload_of(w.handle);
    auto again = std::find_if(inside_.begin(), inside_.end(), [&](const auto& x) { return x.handle.same(w.handle); });
    if (again == inside_.end()) again = inside_.insert(inside_.end(), w);
    again->before = now;
    again->bits = w.handle->bits;
    const bool same_base = now->is_view() && w.before->is_view() && now->base.same(w.before->base);
    if (same_base && !trace_->own_history(w.handle)) {
      // It follows from its base, which is among the writes if it was changed.
      restore(w);
      continue;
    }
    bool stop = w.handle.stop_gradient();
    Tensor value = Tensor::meta(view(now->value.type().shape()), now->value.type().dtype(), w.handle.place());
    value->payload = now;
    value->bits = static_cast<uint8_t>(kTraced | (stop ? 0 : kNeedsGrad));
    // Written again after a further entry: the last value counts.
    bool known = false;
    for (Write& old : writes_)
      if (old.handle.same(w.handle)) old.value = value, known = true;
    if (!known) writes_.push_back({w.handle, value});
    restore(w);
  }
  trace_->writes_.pop_back();
  trace_->blocks_.pop_back();
  trace_->builder_.to_end(trace_->blocks_.back());
}

Tensors build_if(Trace& trace, const Tensor& pred, TraceRegion& yes, const Tensors& outs_yes, TraceRegion& no,
                 const Tensors& outs_no) {
  std::vector<bool> stop_yes, stop_no;
  std::vector<Value> a = yielded(trace, yes, outs_yes, &stop_yes), b = yielded(trace, no, outs_no, &stop_no);
  std::vector<Type> types;
  for (size_t i = 0; i < a.size(); ++i) types.push_back(joined(a[i].type(), b[i].type()));
  Value cond = trace.value_of(pred);
  trace.builder().set_loc(current_location());
  pir::Operation* op = trace.mark(trace.builder().create(pir::op_def("pd_op.if"), {&cond, 1}, {}, types, 2));
  op->region(0).take_blocks(yes.region());
  op->region(1).take_blocks(no.region());
  Tensors results;
  for (size_t i = 0; i < types.size(); ++i) {
    bool stop = stop_yes[i] && stop_no[i];
    op->result(i).set_stop_gradient(stop);
    results.push_back(trace.tensor_of(op->result(i), stop));
  }
  return results;
}

Tensors build_while(Trace& trace, const Tensor& cond, const Tensors& variables, TraceRegion& body,
                    const Tensor& next_cond, const Tensors& next_variables) {
  Tensors inits = variables, next_values = next_variables;
  complete_rounds(trace, body, inits, next_values);
  std::vector<bool> stops;
  std::vector<Value> next = yielded(trace, body, next_values, &stops, &next_cond);
  std::vector<Value> operands{trace.value_of(cond)};
  for (const Tensor& t : inits) operands.push_back(trace.value_of(t));
  std::vector<Type> types;
  for (size_t i = 0; i < inits.size(); ++i) {
    // A size that differs between rounds is another one after the last.
    Type t = body.block().arg(i).type();
    Type last = next[i + 1].type();
    if (t.kind() != pir::TypeKind::kTensorArray) {
      Shape shape = t.shape();
      for (size_t k = 0; k < shape.size(); ++k) {
        const Shape& first = operands[i + 1].type().shape();
        bool own = shape[k].is_symbolic() && !(k < first.size() && first[k] == shape[k]);
        if (own || !(last.shape()[k] == shape[k])) shape[k] = new_symbol();
      }
      t = with_fresh_sizes(t, shape);
    }
    types.push_back(t);
  }
  trace.builder().set_loc(current_location());
  pir::Operation* op = trace.mark(trace.builder().create(pir::op_def("pd_op.while"), operands, {}, types, 1));
  op->region(0).take_blocks(body.region());
  Tensors results;
  for (size_t i = 0; i < types.size(); ++i) {
    bool stop = stops[i] && inits[i].stop_gradient();
    op->result(i).set_stop_gradient(stop);
    if (i < variables.size()) results.push_back(trace.tensor_of(op->result(i), stop));
  }
  return results;
}

bool is_array(const Tensor& t) {
  if (!t.defined() || !t.is_traced()) return false;
  return static_cast<TracedPayload*>(t->payload.get())->value.type().kind() == pir::TypeKind::kTensorArray;
}

namespace {

Tensor make(Trace& trace, const char* name, std::initializer_list<Tensor> operands, Type type, bool stop,
            pir::AttrMap attrs = {}) {
  std::vector<Value> values;
  for (const Tensor& t : operands) values.push_back(trace.value_of(t));
  pir::Operation* op = trace.emit(pir::op_def(name), values, std::move(attrs), {&type, 1});
  op->result().set_stop_gradient(stop);
  return trace.tensor_of(op->result(), stop);
}

// Sizes of an item that is one of two: those that agree.
Shape joined_sizes(Shape a, const Shape& b) {
  if (a.size() != b.size()) return b;
  for (size_t i = 0; i < a.size(); ++i)
    if (!(a[i] == b[i])) a[i] = new_symbol();
  return a;
}

// A size that only running tells may be another one in each item, so it isn't the same symbol everywhere.
Shape unshared_sizes(Shape s) {
  for (Dim& d : s)
    if (d.is_symbolic() && !has_hint(d)) d = new_symbol();
  return s;
}

Type array_type(DType dtype, const Shape& shape) {
  return Type::tensor_like(pir::TypeKind::kTensorArray, dtype, shape);
}

}  // namespace

Tensor array_create(Trace& trace, DType dtype, const Tensors& items, const Shape& of_item) {
  std::vector<Value> values;
  bool stop = true;
  Shape shape = items.empty() ? of_item : items[0].shape();
  for (const Tensor& t : items) {
    values.push_back(trace.value_of(t));
    stop &= t.stop_gradient();
    shape = joined_sizes(shape, t.shape());
  }
  shape = unshared_sizes(shape);
  Type type = array_type(dtype, shape);
  pir::Operation* op = trace.emit(pir::op_def("cf.array_create"), values, {}, {&type, 1});
  op->result().set_stop_gradient(stop);
  return trace.tensor_of(op->result(), stop);
}

Tensor array_write(Trace& trace, const Tensor& array, const Tensor& index, const Tensor& item) {
  Shape shape = joined_sizes(array.shape(), item.shape());
  return make(trace, "cf.array_write", {array, index, item}, array_type(array.dtype(), shape),
              array.stop_gradient() && item.stop_gradient());
}

Tensor array_read(Trace& trace, const Tensor& array, const Tensor& index) {
  return make(trace, "cf.array_read", {array, index}, Type::tensor(array.dtype(), unshared_sizes(array.shape())),
              array.stop_gradient());
}

Tensor array_length(Trace& trace, const Tensor& array) {
  return make(trace, "cf.array_length", {array}, Type::tensor(DType::kInt64, {}), true);
}

Tensor array_pop(Trace& trace, const Tensor& array, const Tensor& index) {
  return make(trace, "cf.array_pop", {array, index}, array_type(array.dtype(), array.shape()), array.stop_gradient());
}

Tensor array_join(Trace& trace, const Tensor& array, int64_t axis, bool stack) {
  Shape shape = array.shape();
  int64_t rank = static_cast<int64_t>(shape.size()) + (stack ? 1 : 0);
  check(axis >= -rank && axis < rank, ErrorKind::kValue, "[{}] expected axis in [{}, {}), got {}",
        stack ? "stack" : "concat", -rank, rank, axis);
  if (axis < 0) axis += rank;
  if (stack)
    shape.insert(static_cast<size_t>(axis), new_symbol());
  else
    shape[static_cast<size_t>(axis)] = new_symbol();
  return make(trace, stack ? "cf.array_stack" : "cf.array_concat", {array}, Type::tensor(array.dtype(), shape),
              array.stop_gradient(), {{"axis", Attribute::i64(axis)}});
}

bool has_rows(const Tensor& array) {
  const Shape& shape = array.shape();
  return std::all_of(shape.begin(), shape.end(), [](Dim d) { return d.is_const() ? d.value() >= 0 : has_hint(d); });
}

Tensor array_rows(Trace& trace, const Tensor& array) {
  Tensor none = ops::full(Ints(view(array.shape())), Scalar(0.0), array.dtype());
  return array_join(trace, array_write(trace, array, array_length(trace, array), none), 0, true);
}

Tensor array_zeros_like(Trace& trace, const Tensor& array) {
  return make(trace, "cf.array_zeros_like", {array}, array_type(array.dtype(), array.shape()), true);
}

Tensor array_add(Trace& trace, const Tensor& a, const Tensor& b) {
  return make(trace, "cf.array_add", {a, b}, array_type(a.dtype(), a.shape()), a.stop_gradient() && b.stop_gradient());
}

Tensor array_add_at(Trace& trace, const Tensor& array, const Tensor& index, const Tensor& item) {
  return make(trace, "cf.array_add_at", {array, index, item}, array_type(array.dtype(), array.shape()),
              array.stop_gradient() && item.stop_gradient());
}

Tensor array_insert(Trace& trace, const Tensor& array, const Tensor& index, const Tensor& item) {
  return make(trace, "cf.array_insert", {array, index, item}, array_type(array.dtype(), array.shape()),
              array.stop_gradient() && item.stop_gradient());
}

Tensor array_unwrite(Trace& trace, const Tensor& array, const Tensor& index, const Tensor& length) {
  return make(trace, "cf.array_unwrite", {array, index, length}, array_type(array.dtype(), array.shape()),
              array.stop_gradient());
}

Tensor array_unstack(Trace& trace, const Tensor& x, int64_t axis) {
  Shape shape = x.shape();
  if (axis < 0) axis += x.rank();
  shape.erase(static_cast<size_t>(axis));
  return make(trace, "cf.array_unstack", {x}, array_type(x.dtype(), shape), x.stop_gradient(),
              {{"axis", Attribute::i64(axis)}});
}

Tensor array_split(Trace& trace, const Tensor& x, const Tensor& like, int64_t axis) {
  return make(trace, "cf.array_split", {x, like}, array_type(x.dtype(), like.shape()), x.stop_gradient(),
              {{"axis", Attribute::i64(axis)}});
}

void trace_assert(Trace& trace, const Tensor& cond, const std::vector<std::string>& texts, const Tensors& tensors) {
  std::vector<Value> values{trace.value_of(cond)};
  for (const Tensor& t : tensors) values.push_back(trace.value_of(t));
  trace.emit(pir::op_def("cf.assert"), values, {{"texts", Attribute::strings(texts)}}, {});
}

void trace_print(Trace& trace, const std::vector<std::string>& texts, const Tensors& tensors, pir::AttrMap options) {
  std::vector<Value> values;
  for (const Tensor& t : tensors) values.push_back(trace.value_of(t));
  options.set("texts", Attribute::strings(texts));
  trace.emit(pir::op_def("cf.print"), values, std::move(options), {});
}

}  // namespace paddle::dispatch
