// Branches, loops and lists of a program under construction.
#include "api/ops.h"
#include "dispatch/trace.h"
#include "pir/op_def.h"

namespace paddle::dispatch {
namespace {

using pir::Attribute;
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
  add("cf.assert", {one("cond"), many("data")}, {}, uint64_t{kSideEffect});
  add("cf.print", {many("data")}, {}, uint64_t{kSideEffect});
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
  region.enter();
  std::vector<Value> values;
  if (first) values.push_back(trace.value_of(*first));
  for (const Tensor& t : outs) {
    values.push_back(trace.value_of(t));
    if (stops) stops->push_back(t.stop_gradient());
  }
  trace.builder().yield(values);
  region.exit();
  return values;
}

}  // namespace

TraceRegion::TraceRegion(Trace& trace, std::span<const Tensor> inits, std::span<const std::optional<Shape>> shapes)
    : trace_(trace) {
  pir::Block& block = region_.add_block();
  trace_.blocks_.push_back(&block);  // the arguments' home
  for (size_t i = 0; i < inits.size(); ++i) {
    Value init = trace_.payload_of(inits[i])->value;
    Type type = init.type();
    Shape shape = i < shapes.size() && shapes[i] ? *shapes[i] : type.shape();
    Value arg = block.add_arg(with_fresh_sizes(type, shape));
    bool stop = inits[i].stop_gradient() || !is_inexact(type.dtype());
    arg.set_stop_gradient(stop);
    args_.push_back(trace_.tensor_of(arg, stop, inits[i].place()));
  }
  trace_.blocks_.pop_back();
}

void TraceRegion::enter() {
  trace_.blocks_.push_back(&block());
  trace_.writes_.emplace_back();
  trace_.builder_.to_end(&block());
}

void TraceRegion::exit() {
  PD_INVARIANT(trace_.blocks_.back() == &block());
  for (Trace::Written& w : trace_.writes_.back()) {
    if (w.before->home == &block()) continue;  // made inside
    Ref<TracedPayload> now = trace_.payload_of(w.handle);
    bool stop = w.handle.stop_gradient();
    Tensor value = Tensor::meta(view(now->value.type().shape()), now->value.type().dtype(), w.handle.place());
    value->payload = now;
    value->bits = static_cast<uint8_t>(kTraced | (stop ? 0 : kNeedsGrad));
    // Written again after a further entry: the last value counts.
    bool known = false;
    for (Write& old : writes_)
      if (old.handle.same(w.handle)) old.value = value, known = true;
    if (!known) writes_.push_back({w.handle, value});
    trace_.set_payload(w.handle, w.before);
    w.handle->dtype = w.dtype;
    w.handle->shape = w.shape;
    w.handle->bits = w.bits;
  }
  trace_.writes_.pop_back();
  trace_.blocks_.pop_back();
  trace_.builder_.to_end(trace_.blocks_.back());
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

Tensors build_while(Trace& trace, const Tensor& cond, const Tensors& inits, TraceRegion& body, const Tensor& next_cond,
                    const Tensors& next_values) {
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
    results.push_back(trace.tensor_of(op->result(i), stop));
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

Type array_type(DType dtype, const Shape& shape) {
  return Type::tensor_like(pir::TypeKind::kTensorArray, dtype, shape);
}

}  // namespace

Tensor array_create(Trace& trace, DType dtype, const Tensors& items) {
  std::vector<Value> values;
  bool stop = true;
  Shape shape;
  for (const Tensor& t : items) {
    values.push_back(trace.value_of(t));
    stop &= t.stop_gradient();
    shape = t.shape();
  }
  Type type = array_type(dtype, shape);
  pir::Operation* op = trace.emit(pir::op_def("cf.array_create"), values, {}, {&type, 1});
  op->result().set_stop_gradient(stop);
  return trace.tensor_of(op->result(), stop);
}

Tensor array_write(Trace& trace, const Tensor& array, const Tensor& index, const Tensor& item) {
  Shape shape = array.shape();
  if (shape.size() != item.shape().size()) {
    shape = item.shape();
  } else {
    for (size_t i = 0; i < shape.size(); ++i)
      if (!(shape[i] == item.shape()[i])) shape[i] = new_symbol();
  }
  return make(trace, "cf.array_write", {array, index, item}, array_type(array.dtype(), shape),
              array.stop_gradient() && item.stop_gradient());
}

Tensor array_read(Trace& trace, const Tensor& array, const Tensor& index) {
  return make(trace, "cf.array_read", {array, index}, Type::tensor(array.dtype(), array.shape()),
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

void trace_assert(Trace& trace, const Tensor& cond, const std::string& message, const Tensors& data) {
  std::vector<Value> values{trace.value_of(cond)};
  for (const Tensor& t : data) values.push_back(trace.value_of(t));
  trace.emit(pir::op_def("cf.assert"), values, {{"message", Attribute::string(message)}}, {});
}

void trace_print(Trace& trace, const std::vector<std::string>& texts, const Tensors& tensors) {
  std::vector<Value> values;
  for (const Tensor& t : tensors) values.push_back(trace.value_of(t));
  trace.emit(pir::op_def("cf.print"), values, {{"texts", Attribute::strings(texts)}}, {});
}

}  // namespace paddle::dispatch
