#include "pir/builder.h"

#include "base/error.h"

namespace paddle::pir {

void Builder::to_start(Block* block) {
  block_ = block;
  before_ = block->front();
}
void Builder::before(Operation* op) {
  PD_INVARIANT(op->block());
  block_ = op->block();
  before_ = op;
}
void Builder::after(Operation* op) {
  PD_INVARIANT(op->block());
  block_ = op->block();
  before_ = op->next();
}

void Builder::place(Operation* op) {
  if (block_) block_->insert(before_, op);
  if (listener_) listener_->created(op);
}

Operation* Builder::create(const OpDef& def, std::span<const Value> operands, AttrMap attrs,
                           std::span<const Type> results, size_t num_regions) {
  Operation* op = Operation::create(def, operands, std::move(attrs), results, num_regions, loc_);
  place(op);
  return op;
}

Operation* Builder::create(const OpDef& def, std::span<const Value> operands, AttrMap attrs) {
  if (!def.infer) throw InternalError("operation " + def.name + " needs its result types to be given");
  def.fill_defaults(attrs);
  std::vector<Type> types;
  try {
    types = def.infer(def, operands, attrs);
  } catch (const Error& e) {
    if (!loc_.source()) throw;
    throw Error(e.kind(), fmt::format("{} ({})", e.what(), loc_.str()));
  }
  return create(def, operands, std::move(attrs), types);
}

Value Builder::parameter(std::string_view name, Type type, bool trainable) {
  auto one = [](bool v) { return Attribute::array({Attribute::boolean(v)}); };
  return create("builtin.parameter", {},
                {{"parameter_name", Attribute::string(name)},
                 {"is_parameter", one(true)},
                 {"need_clip", one(true)},
                 {"is_distributed", one(false)},
                 {"persistable", one(true)},
                 {"stop_gradient", one(!trainable)},
                 {"trainable", one(trainable)}},
                {type})
      ->result();
}

Operation* Builder::set_parameter(std::string_view name, Value value) {
  return create("builtin.set_parameter", {value}, {{"parameter_name", Attribute::string(name)}});
}

Operation* Builder::shadow_output(std::string_view name, Value value) {
  return create("builtin.shadow_output", {value}, {{"output_name", Attribute::string(name)}});
}

Value Builder::combine(std::span<const Value> values) {
  return create(op_def("builtin.combine"), values, AttrMap())->result();
}

std::vector<Value> Builder::split(Value list) { return create("builtin.split", {list})->results_vector(); }

Operation* Builder::yield(std::span<const Value> values) { return create(op_def("cf.yield"), values, AttrMap()); }

Value Builder::constant(DenseData data) {
  return create("builtin.constant", {},
                {{"value", Attribute::dense(std::move(data))},
                 {"stop_gradient", Attribute::array({Attribute::boolean(true)})}})
      ->result();
}

Value Builder::data(std::string_view name, Type type) {
  return create("pd_op.data", {},
                {{"name", Attribute::string(name)},
                 {"shape", Attribute::ints(view(type.shape()))},
                 {"dtype", Attribute::dtype(type.dtype())},
                 {"place", Attribute::undefined_place()}},
                {type})
      ->result();
}

Value Builder::full(const Shape& shape, double value, DType dtype) {
  return create("pd_op.full", {},
                {{"shape", Attribute::ints(view(shape))},
                 {"value", Attribute::scalar(Attribute::f64(value))},
                 {"dtype", Attribute::dtype(dtype)},
                 {"place", Attribute::undefined_place()},
                 {"stop_gradient", Attribute::array({Attribute::boolean(true)})}},
                {Type::tensor(dtype, shape)})
      ->result();
}

Value Builder::full_int_array(std::span<const int64_t> values, DType dtype) {
  return create("pd_op.full_int_array", {},
                {{"value", Attribute::i64s(values)},
                 {"dtype", Attribute::dtype(dtype)},
                 {"place", Attribute::place(Place::cpu())},
                 {"stop_gradient", Attribute::array({Attribute::boolean(true)})}},
                {Type::tensor(dtype, Shape{static_cast<int64_t>(values.size())})})
      ->result();
}

Operation* Builder::fetch(std::string_view name, Value value, int column) {
  return create("pd_op.fetch", {value}, {{"name", Attribute::string(name)}, {"col", Attribute::i32(column)}});
}

Operation* Builder::if_op(Value condition, std::span<const Type> results) {
  Operation* op = create(op_def("pd_op.if"), std::span<const Value>(&condition, 1), {}, results, 2);
  op->region(0).add_block();
  op->region(1).add_block();
  return op;
}

Operation* Builder::while_op(Value condition, std::span<const Value> loop_vars) {
  std::vector<Value> operands = {condition};
  std::vector<Type> types;
  operands.insert(operands.end(), loop_vars.begin(), loop_vars.end());
  for (Value v : loop_vars) types.push_back(v.type());
  Operation* op = create(op_def("pd_op.while"), operands, {}, types, 1);
  Block& body = op->region(0).add_block();
  for (Value v : loop_vars) {
    Value arg = body.add_arg(v.type());
    arg.set_stop_gradient(v.stop_gradient());
  }
  return op;
}

}  // namespace paddle::pir
