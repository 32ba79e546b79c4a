#include "compile/official.h"

#include <algorithm>

#include "api/ops.h"
#include "dispatch/state.h"
#include "dispatch/trace.h"
#include "pir/custom_gradient.h"
#include "pir/op_def.h"
#include "pir/written_input.h"

namespace paddle::compile {
namespace {

using dispatch::Trace;
using pir::Attribute;
using pir::AttrKind;
using pir::Operation;
using pir::Value;

// Operators that are here in parts, each a record of its own with a derived gradient.
struct Renamed {
  const char* ours;
  const char* official;
  const char* attr;
  bool value;
};
constexpr Renamed kRenamed[] = {{"pd_op.gelu_erf", "pd_op.gelu", "approximate", false},
                                {"pd_op.gelu_tanh", "pd_op.gelu", "approximate", true}};

// Official kernels count an axis that is an operand from the front.
void count_axis_from_front(Operation& op) {
  if (!op.is("pd_op.split") && !op.is("pd_op.split_with_num")) return;
  int index = op.def().operand_index("axis");
  Value axis = index < 0 ? Value() : op.operand(static_cast<size_t>(index));
  if (!axis || !axis.is_result() || !axis.defining_op()->is("pd_op.full")) return;
  Attribute number = axis.defining_op()->attr("value");
  int64_t at = number.kind() == AttrKind::kScalar ? number.inner().as_int() : number.as_int();
  if (at >= 0) return;
  Operation* fresh = Operation::create(axis.defining_op()->def(), {}, axis.defining_op()->attrs(),
                                       std::vector<pir::Type>{axis.type()}, 0, op.loc());
  fresh->set_attr("value", Attribute::scalar(Attribute::i64(at + op.operand(0).type().rank())));
  op.block()->insert(&op, fresh);
  op.set_operand(static_cast<size_t>(index), fresh->result());
}

void replace(Operation& old, Operation* fresh) {
  old.block()->insert(&old, fresh);
  for (size_t i = 0; i < old.num_results(); ++i) old.result(i).replace_all_uses_with(fresh->result(i));
  old.erase();
}

std::vector<pir::Type> result_types(const Operation& op) {
  std::vector<pir::Type> types;
  for (Value v : op.results_vector()) types.push_back(v.type());
  return types;
}

void rename(Operation& op, const Renamed& to) {
  pir::AttrMap attrs = op.attrs();
  attrs.set(to.attr, Attribute::boolean(to.value));
  replace(op,
          Operation::create(pir::op_def(to.official), op.operands(), std::move(attrs), result_types(op), 0, op.loc()));
}

void complete_parameter(Operation& op) {
  bool stop = op.result().stop_gradient();
  op.set_attr("persistable", Attribute::array({Attribute::boolean(true)}));
  op.set_attr("is_parameter", Attribute::array({Attribute::boolean(true)}));
  op.set_attr("trainable", Attribute::array({Attribute::boolean(!stop)}));
}

bool symbolic(const Attribute& a) {
  if (a.kind() == AttrKind::kDim) return a.as_dim().is_symbolic();
  if (a.kind() == AttrKind::kScalar) return symbolic(a.inner());
  return a.kind() == AttrKind::kIntArray && !is_static(view(a.as_ints()));
}

// Sizes as operators, in front of the operation that needs them.
class Sizes {
 public:
  Sizes(Trace& trace, Operation& user) : trace_(trace), user_(user) {}

  Tensor vector(const Shape& dims) {  // int64 [n]
    Tensors parts;
    for (Dim d : dims) parts.push_back(of(d));
    return parts.size() == 1 ? parts[0] : ops::concat(parts, Scalar(int64_t{0}));
  }

  Tensor of(Dim d) {  // int64 [1]
    if (d.is_const()) return ops::full(one(Dim(1)), Scalar(d.value()), DType::kInt64);
    const DimNode& n = node_of(d);
    if (n.op == DimOp::kSymbol) return extent(d);
    Tensor r = of(n.operands[0]);
    for (size_t i = 1; i < n.operands.size(); ++i) r = combined(n.op, r, of(n.operands[i]));
    return r;
  }

 private:
  static Ints one(Dim d) {
    Shape s{d};
    return Ints(view(s));
  }

  static Tensor combined(DimOp op, const Tensor& a, const Tensor& b) {
    switch (op) {
      case DimOp::kAdd:
        return ops::add(a, b);
      case DimOp::kMul:
        return ops::multiply(a, b);
      case DimOp::kFloorDiv:
        return ops::floor_divide(a, b);
      case DimOp::kMod:
        return ops::remainder(a, b);
      case DimOp::kMin:
        return ops::minimum(a, b);
      default:
        return ops::maximum(a, b);
    }
  }

  // The extent of some tensor that is there already.
  Tensor extent(Dim symbol) {
    for (Operation* at = &user_; at && at->block(); at = at->parent_op()) {
      for (Value v : at->block()->args())
        if (Tensor t = extent_in(v, symbol); t.defined()) return t;
      for (Operation& op : *at->block()) {
        if (&op == at) break;
        for (Value v : op.results_vector())
          if (Tensor t = extent_in(v, symbol); t.defined()) return t;
      }
    }
    fail(ErrorKind::kNotImplemented, "[save] {} needs the size {}, which no tensor before it has", user_.describe(),
         symbol.str());
  }

  Tensor extent_in(Value v, Dim symbol) {
    if (!v.type().is_tensor()) return {};
    const Shape& s = v.shape();
    for (size_t i = 0; i < s.size(); ++i) {
      if (!(s[i] == symbol)) continue;
      Dim at(static_cast<int64_t>(i));
      return ops::slice(ops::shape64(trace_.tensor_of(v, true)), {0}, one(at), one(at + Dim(1)));
    }
    return {};
  }

  Trace& trace_;
  Operation& user_;
};

void replace_by(Trace& trace, Operation& op, const Tensor& t) {
  Value v = trace.value_of(t);
  v.set_type(op.result().type());
  op.result().replace_all_uses_with(v);
  op.erase();
}

// Official kernels want what they choose from in the result's shape.
void broadcast_choices(Trace& trace, Operation& op) {
  pir::InsertionGuard guard(trace.builder());
  trace.builder().before(&op);
  const Shape shape = op.result().shape();
  for (size_t i = 0; i < op.num_operands(); ++i) {
    const Value v = op.operand(i);
    if (v.shape() == shape) continue;
    Ints extents = is_static(view(shape)) ? Ints(view(shape)) : Ints(Sizes(trace, op).vector(shape));
    Value wide = trace.value_of(ops::expand(trace.tensor_of(v, true), extents));
    wide.set_type(v.type().with_shape(shape));
    op.set_operand(i, wide);
  }
}

std::vector<int64_t> numbers(const Operation& op, const char* attr) {
  std::vector<int64_t> r;
  for (Dim d : op.attr(attr).as_ints()) r.push_back(d.value());
  return r;
}

// A convolution's gradient for its input is what official Paddle calls a transposed convolution. The size of its result
// follows from the window but for what the stride leaves open.
void name_transposed_convolution(Operation& op) {
  const Shape from = op.operand(0).shape(), filter = op.operand(1).shape(), to = op.result().shape();
  const std::vector<int64_t> strides = numbers(op, "strides"), dilations = numbers(op, "dilations");
  std::vector<int64_t> paddings = numbers(op, "paddings");
  const size_t n = strides.size(), first = op.attr("data_format").as_string().ends_with("C") ? 1 : 2;
  if (paddings.size() == n) {
    std::vector<int64_t> both;
    for (int64_t p : paddings) both.insert(both.end(), {p, p});
    paddings = both;
  }
  if (paddings.size() != 2 * n || to.size() != n + 2) return;
  std::vector<int64_t> rest;
  for (size_t i = 0; i < n; ++i) {
    Dim least = (from[first + i] - Dim(1)) * Dim(strides[i]) + (filter[2 + i] - Dim(1)) * Dim(dilations[i]) + Dim(1) -
                Dim(paddings[2 * i] + paddings[2 * i + 1]);
    Dim left = to[first + i] - least;
    if (!left.is_const() || left.value() < 0 || left.value() >= strides[i]) return;
    rest.push_back(left.value());
  }
  pir::AttrMap attrs = op.attrs();
  attrs.set("paddings", Attribute::i32s(paddings));
  const bool exact = std::all_of(rest.begin(), rest.end(), [](int64_t r) { return r == 0; });
  attrs.set("output_padding", Attribute::i32s(exact ? std::vector<int64_t>{} : rest));
  attrs.set("padding_algorithm", Attribute::string("EXPLICIT"));
  const pir::Type none = pir::Type::tensor(DType::kInt64, Shape{Dim(0)});
  pir::AttrMap sizes{{"value", Attribute::i64s({})},
                     {"dtype", Attribute::dtype(DType::kInt64)},
                     {"place", Attribute::undefined_place()}};
  Operation* size = Operation::create(pir::op_def("pd_op.full_int_array"), {}, std::move(sizes),
                                      std::vector<pir::Type>{none}, 0, op.loc());
  op.block()->insert(&op, size);
  const std::vector<Value> operands = {op.operand(0), op.operand(1), size->result()};
  const char* name = n == 2 ? "pd_op.conv2d_transpose" : "pd_op.conv3d_transpose";
  replace(op, Operation::create(pir::op_def(name), operands, std::move(attrs), result_types(op), 0, op.loc()));
}

// Attributes of other operations keep their symbols: the file says -1 there.
void compute_sizes(Trace& trace, Operation& op) {
  pir::InsertionGuard guard(trace.builder());
  trace.builder().before(&op);
  Sizes sizes(trace, op);
  if (op.is("pd_op.full_int_array") && symbolic(op.attr("value")))
    return replace_by(trace, op, ops::cast(sizes.vector(op.attr("value").as_ints()), op.attr("dtype").as_dtype()));
  if (!op.is("pd_op.full")) return;
  DType dtype = op.attr("dtype").as_dtype();
  Attribute value = op.attr("value");
  if (value.kind() == AttrKind::kScalar) value = value.inner();
  bool shape_too = symbolic(op.attr("shape"));
  if (!symbolic(value) && !shape_too) return;
  Tensor shape = shape_too ? sizes.vector(op.attr("shape").as_ints()) : Tensor();
  Ints extents = shape_too ? Ints(shape) : Ints(view(op.attr("shape").as_ints()));
  if (symbolic(value)) {
    Tensor number = ops::reshape(ops::cast(sizes.of(value.as_dim()), dtype), {});
    return replace_by(trace, op, op.attr("shape").as_ints().empty() ? number : ops::expand(number, extents));
  }
  Scalar number = is_inexact(dtype) ? Scalar(value.as_double()) : Scalar(value.as_int());
  replace_by(trace, op, ops::expand(ops::full({}, number, dtype), extents));
}

}  // namespace

pir::Program official_form(const pir::Program& program) {
  pir::Program copy = program.clone();
  pir::drop_custom_gradients(copy.module());
  std::vector<Operation*> ops, sized, choices, transposed;
  copy.walk([&](Operation& op) {
    if (op.block()) ops.push_back(&op);
  });
  for (Operation* op : ops) {
    if (op->is("builtin.parameter")) complete_parameter(*op);
    bool asks = false;
    for (const pir::NamedAttr& a : op->attrs()) asks |= symbolic(a.value);
    if (asks) sized.push_back(op);
    count_axis_from_front(*op);
    if (op->is("pd_op.where")) choices.push_back(op);
    if (op->is("pd_op.conv_input_grad")) transposed.push_back(op);
    op->erase_attr("op_role");
    op->erase_attr(pir::kWritesInput);
    for (const Renamed& r : kRenamed)
      if (op->is(r.ours)) {
        rename(*op, r);
        break;
      }
  }
  dispatch::Trace trace("official", std::move(copy));
  {
    dispatch::StackScope scope(&trace);
    dispatch::GradMode off(false);
    for (Operation* op : sized) compute_sizes(trace, *op);
    for (Operation* op : choices) broadcast_choices(trace, *op);
  }
  copy = trace.take_program();
  for (Operation* op : transposed) name_transposed_convolution(*op);
  arrays_to_official(copy);
  return copy;
}

}  // namespace paddle::compile
