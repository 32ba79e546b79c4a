// What one operator call appends to the program that is being captured.
#include <algorithm>

#include "api/call.h"
#include "api/ops.h"
#include "device/default_place.h"
#include "dispatch/numbers.h"
#include "dispatch/state.h"
#include "dispatch/trace.h"
#include "pir/op_args.h"
#include "pir/record_types.h"

namespace paddle::dispatch {
namespace {

pir::Type type_of(const TensorMeta& m) {
  return m.dtype == DType::kUndefined ? pir::Type() : pir::Type::tensor(m.dtype, m.shape);
}

Place place_of(const OpCall& c) {
  for (const Arg& a : c.args) {
    if (a.tag() == Arg::Tag::kPlace) return a.place();
    for (const Tensor& t : a.tensors_or_empty())
      if (t.defined()) return t.place();
  }
  return device::default_place();
}

}  // namespace

// One call on its way into the program.
class EmitCall {
 public:
  EmitCall(Trace& trace, OpCall& c) : trace_(trace), c_(c), place_(place_of(c)), traced_(c.op, args_storage_) {
    for (const Arg& a : c.args) args_.push_back(stand_in(a));
    for (const pir::AttrDef& a : pir::op_def(c.op).attrs)
      if (a.arg >= 0) make_sizes(args_[static_cast<size_t>(a.arg)]);
    traced_.args = std::span<Arg>(args_);
  }

  void run() {
    const OpInfo& op = c_.op;
    check(op.meta != nullptr, ErrorKind::kNotImplemented, "[{}] has no shape rule and can't be captured", op.name);
    traced_.inplace = c_.inplace;
    traced_.place = place_;
    pir::infer_metas(traced_);
    c_.place = place_;
    const pir::OpDef& def = pir::op_def(op);
    std::vector<pir::Value> operands;
    for (const pir::OperandDef& o : def.operands)
      operands.push_back(o.arg < 0 ? pir::Value()
                                   : operand(op.args[static_cast<size_t>(o.arg)], args_[static_cast<size_t>(o.arg)]));
    pir::AttrMap attrs;
    for (const pir::AttrDef& a : def.attrs) {
      if (a.arg < 0) continue;
      pir::Attribute value = pir::to_attribute(op.args[static_cast<size_t>(a.arg)], args_[static_cast<size_t>(a.arg)]);
      if (value) attrs.set(a.name, value);
    }
    pir::Operation* made = trace_.emit(def, operands, std::move(attrs), result_types());
    bind_results(made);
  }

 private:
  // Captured tensors get a traced stand-in: rules then see them as values that only running tells.
  Arg stand_in(const Arg& a) {
    switch (a.tag()) {
      case Arg::Tag::kTensor:
        return Arg(c_.kept_tensors.emplace_front(trace_.traced(a.tensor())));
      case Arg::Tag::kTensors: {
        Tensors list;
        for (const Tensor& t : a.tensors()) list.push_back(t.defined() ? trace_.traced(t) : t);
        return Arg(c_.kept_lists.emplace_front(std::move(list)));
      }
      case Arg::Tag::kScalar:
        if (a.scalar().kind() != Scalar::Kind::kTensor) return a;
        return Arg(c_.kept_scalars.emplace_front(trace_.traced(a.scalar().tensor())));
      case Arg::Tag::kInts: {
        if (a.ints().resolved()) return a;
        if (a.ints().whole().defined()) return Arg(c_.kept_ints.emplace_front(Ints(trace_.traced(a.ints().whole()))));
        Tensors items;
        for (const Tensor& t : a.ints().tensors()) items.push_back(t.defined() ? trace_.traced(t) : t);
        items.resize(a.ints().size());
        return Arg(c_.kept_ints.emplace_front(Ints(view(a.ints().values()), std::move(items))));
      }
      default:
        return a;
    }
  }

  // An attribute can't hold tensors: sizes given as such become symbols, told by something of that shape.
  void make_sizes(Arg& arg) {
    if (arg.tag() != Arg::Tag::kInts || arg.ints().resolved()) return;
    const Ints& v = arg.ints();
    Shape dims = v.values();
    if (const Tensor& whole = v.whole(); whole.defined()) {
      const Dim rank = paddle::numel(whole.shape());
      check(rank.is_const(), ErrorKind::kValue,
            "[{}] expected a shape of a known number of sizes, got a tensor of shape {}", c_.op.name,
            to_string(whole.shape()));
      dims.clear();
      for (int64_t i = 0; i < rank.value(); ++i) dims.push_back(new_symbol());
    }
    for (size_t i = 0; i < dims.size(); ++i) {
      if (i < v.tensors().size() && v.tensors()[i].defined())
        dims[i] = new_symbol();
      else if (dims[i].is_const() && dims[i].value() < 0)
        return;  // the rule says what is wrong
    }
    pir::Type type = pir::Type::tensor(DType::kBool, dims);
    const pir::Value operands[] = {full(pir::Attribute::boolean(false), DType::kBool, Shape{Dim(1)}),
                                   ints_operand(arg)};
    trace_.emit(pir::op_def("pd_op.expand"), operands, {}, {&type, 1});
    arg = Arg(c_.kept_ints.emplace_front(Ints(view(dims))));
  }

  pir::Value full(const pir::Attribute& number, DType dtype, const Shape& shape) {
    pir::Type type = pir::Type::tensor(dtype, shape);
    pir::AttrMap attrs{{"shape", pir::Attribute::ints(view(shape))},
                       {"value", pir::Attribute::scalar(number)},
                       {"dtype", pir::Attribute::dtype(dtype)},
                       {"place", pir::Attribute::undefined_place()}};
    return trace_.emit(pir::op_def("pd_op.full"), {}, std::move(attrs), {&type, 1})->result();
  }

  pir::Value scalar_operand(const ArgInfo& info, const Arg& arg) {
    const Scalar& s = arg.scalar();
    if (s.kind() == Scalar::Kind::kTensor) return trace_.value_of(s.tensor());
    // In its own type, exactly: kernels round to what they compute in.
    return full(pir::to_attribute(info, arg).inner(), s.natural_dtype(), Shape{Dim(1)});
  }

  pir::Value ints_operand(const Arg& arg) {
    const Ints& v = arg.ints();
    if (v.whole().defined()) return trace_.value_of(v.whole());
    if (v.resolved()) {
      pir::Type type = pir::Type::tensor(DType::kInt64, Shape{Dim(static_cast<int64_t>(v.size()))});
      bool symbolic = !is_static(view(v.values()));
      std::vector<int64_t> numbers;
      if (!symbolic)
        for (Dim d : v.values()) numbers.push_back(d.value());
      pir::AttrMap attrs{{"value", symbolic ? pir::Attribute::ints(view(v.values())) : pir::Attribute::i64s(numbers)},
                         {"dtype", pir::Attribute::dtype(DType::kInt64)},
                         {"place", pir::Attribute::undefined_place()}};
      return trace_.emit(pir::op_def("pd_op.full_int_array"), {}, std::move(attrs), {&type, 1})->result();
    }
    std::vector<pir::Value> items;
    for (size_t i = 0; i < v.size(); ++i) {
      if (i < v.tensors().size() && v.tensors()[i].defined())
        items.push_back(trace_.value_of(v.tensors()[i]));
      else
        items.push_back(full(v[i].is_const() ? pir::Attribute::i64(v[i].value()) : pir::Attribute::dim(v[i]),
                             DType::kInt64, Shape{Dim(1)}));
    }
    return combine(items);
  }

  pir::Value combine(std::span<const pir::Value> items) {
    std::vector<pir::Type> types;
    for (pir::Value v : items) types.push_back(v ? v.type() : pir::Type());
    pir::Type type = pir::Type::vector(types);
    return trace_.emit(pir::op_def("builtin.combine"), items, {}, {&type, 1})->result();
  }

  pir::Value operand(const ArgInfo& info, const Arg& arg) {
    if (arg.none()) return {};
    switch (arg.tag()) {
      case Arg::Tag::kScalar:
        return scalar_operand(info, arg);
      case Arg::Tag::kInts:
        return ints_operand(arg);
      case Arg::Tag::kTensors: {
        std::vector<pir::Value> items;
        for (const Tensor& t : arg.tensors()) items.push_back(t.defined() ? trace_.value_of(t) : pir::Value());
        return combine(items);
      }
      default:
        return trace_.value_of(arg.tensor());
    }
  }

  std::vector<pir::Type> result_types() {
    std::vector<pir::Type> types;
    for (size_t i = 0; i < c_.num_outs(); ++i) {
      if (c_.op.outs[i].kind == ArgKind::kTensors) {
        std::vector<pir::Type> items;
        if (int target = c_.op.outs[i].inplace_of; target >= 0) {
          for (const Tensor& t : args_[static_cast<size_t>(target)].tensors_or_empty())
            items.push_back(t.defined() ? pir::Type::tensor(t.dtype(), t.shape()) : pir::Type());
        } else {
          for (const TensorMeta& m : traced_.list_metas) items.push_back(type_of(m));
        }
        types.push_back(pir::Type::vector(items));
      } else {
        types.push_back(type_of(traced_.meta(i)));
      }
    }
    return types;
  }

  // Does any gradient flow from this result to an input?
  bool differentiable() const {
    if (!state().grad_enabled || c_.op.has(kNondifferentiable)) return false;
    for (size_t i = 0; i < args_.size(); ++i) {
      if (c_.op.args[i].nondifferentiable) continue;
      for (const Tensor& t : args_[i].tensors_or_empty())
        if (t.defined() && !t.stop_gradient()) return true;
    }
    return false;
  }

  void bind_results(pir::Operation* made) {
    bool flows = differentiable() && c_.op.vjp;
    for (size_t i = 0; i < c_.num_outs(); ++i) {
      const OutInfo& info = c_.op.outs[i];
      pir::Value v = made->result(i);
      if (!v.type()) continue;
      if (v.type().is_vector()) {
        if (v.type().elements().empty()) continue;
        std::vector<pir::Type> types(v.type().elements().begin(), v.type().elements().end());
        pir::Operation* split = trace_.emit(pir::op_def("builtin.split"), {&v, 1}, {}, types);
        for (size_t k = 0; k < split->num_results(); ++k) {
          pir::Value item = split->result(k);
          if (!item.type()) {
            c_.out_list(i).emplace_back();
            continue;
          }
          bool stop = !(flows && !info.nondifferentiable && is_inexact(item.dtype()));
          item.set_stop_gradient(stop);
          c_.out_list(i).push_back(trace_.tensor_of(item, stop, place_));
          note_view(c_.out_list(i).back(), made, i, static_cast<int32_t>(k));
        }
        v.set_stop_gradient(!flows);
        continue;
      }
      bool stop = !(flows && !info.nondifferentiable && is_inexact(v.dtype()));
      v.set_stop_gradient(stop);
      c_.out(i) = trace_.tensor_of(v, stop, place_);
      note_view(c_.out(i), made, i, -1);
    }
    write_targets(made);
  }

  Trace::ViewResult view_result(pir::Operation* made, size_t out, int32_t item) const {
    const auto& operands = made->def().operands;
    auto from = std::find_if(operands.begin(), operands.end(),
                             [&](const pir::OperandDef& o) { return o.arg == c_.op.outs[out].view_of; });
    return {made, static_cast<uint8_t>(from - operands.begin()), static_cast<uint8_t>(out), item};
  }

  void note_view(const Tensor& view, pir::Operation* made, size_t out, int32_t item) {
    int arg = c_.op.outs[out].view_of;
    if (arg < 0 || !c_.op.has(kView) || c_.inplace) return;
    const Arg& source = c_.args[static_cast<size_t>(arg)];  // the handle as the caller has it, not its stand-in
    if (source.tag() == Arg::Tag::kTensor) trace_.note_view(view, source.tensor(), view_result(made, out, item));
  }

  void check_target(const Tensor& target, const TensorMeta& m) const {
    if (m.dtype == DType::kUndefined) return;
    check(m.shape == target.shape() || paddle::numel(m.shape) == paddle::numel(target.shape()), ErrorKind::kValue,
          "[{}_] expected a result of the target's shape {}, got {}: an in-place operator can't change it", c_.op.name,
          to_string(target.shape()), to_string(m.shape));
    check(m.dtype == target.dtype(), ErrorKind::kType,
          "[{}_] expected a result of the target's dtype {}, got {}: an in-place operator can't change it", c_.op.name,
          name_of(target.dtype()), name_of(m.dtype));
    bool leaf = !target.stop_gradient() && !target.is_traced() && trace_.is_leaf(target);
    check(
        !(leaf && c_.inplace && state().grad_enabled), ErrorKind::kValue,
        "[{}_] a leaf tensor that needs a gradient can't be written in place, nor through a view; use no_grad() or the "
        "out-of-place operator",
        c_.op.name);
  }

  void write_targets(pir::Operation* made) {
    if (!c_.inplace && !c_.op.has(kInplaceOnly)) return;
    for (size_t i = 0; i < c_.num_outs(); ++i) {
      int arg = c_.op.outs[i].inplace_of;
      if (arg < 0) continue;
      const Arg& target = c_.args[static_cast<size_t>(arg)];
      if (target.tag() == Arg::Tag::kTensors) {
        Tensors& outs = c_.out_list(i);
        for (size_t k = 0; k < outs.size() && k < target.tensors().size(); ++k) {
          if (!target.tensors()[k].defined()) continue;
          trace_.write(target.tensors()[k], outs[k], recorded());
          outs[k] = target.tensors()[k];
        }
      } else if (target.tag() == Arg::Tag::kTensor && c_.out(i).defined()) {
        check_target(target.tensor(), traced_.meta(i));
        write_target(target.tensor(), made, i);
        c_.out(i) = target.tensor();
      }
    }
  }

  // Does eager's graph know of a write by this operator?
  bool recorded() const {
    return state().grad_enabled && !c_.op.has(kNondifferentiable) && !(c_.op.has(kInplaceOnly) && !c_.op.vjp);
  }

  void write_target(const Tensor& target, pir::Operation* made, size_t i) {
    if (c_.op.has(kView))
      trace_.view_in_place(target, c_.out(i), view_result(made, i, -1));
    else
      trace_.write(target, c_.out(i), recorded());
  }

  Trace& trace_;
  OpCall& c_;
  Place place_;
  std::vector<Arg> args_;
  std::span<Arg> args_storage_;
  OpCall traced_;
};

namespace {

// A number that the operation holds as an attribute has to be one: a tensor is read, where that can be.
void read_numbers(OpCall& c) {
  for (const pir::AttrDef& a : pir::op_def(c.op).attrs) {
    if (a.arg < 0) continue;
    Arg& arg = c.args[static_cast<size_t>(a.arg)];
    if (arg.tag() != Arg::Tag::kScalar || arg.scalar().kind() != Scalar::Kind::kTensor) continue;
    check_value_readable(arg.scalar().tensor(), std::string(c.op.name).c_str());
    arg = Arg(c.kept_scalars.emplace_front(read_number(arg.scalar())));
  }
}

}  // namespace

void Trace::call(OpCall& c, size_t) {
  read_numbers(c);
  if (writes_shared_input(c) || (can_break() && writes_shared(c))) {
    std::string why(c.op.name);
    break_here((why + "_").c_str());
    StackScope eager;
    return dispatch::call(c);
  }
  bool wants = false;
  if (state().grad_enabled && !c.op.has(kNondifferentiable))
    c.for_each_tensor([&](const Tensor& t) {
      refreshed(t);  // a view of what was written may need a gradient since
      wants |= !t.stop_gradient();
    });
  if (wants && !c.op.vjp && c.op.decompose) {
    // Its gradient is that of its composition.
    if (!c.inplace) return c.op.decompose(c);
    OpCall fresh(c.op, c.args);
    c.op.decompose(fresh);
    for (size_t i = 0; i < c.num_outs(); ++i) {
      c.out_slot(i) = fresh.out_slot(i);
      if (c.op.outs[i].inplace_of < 0) continue;
      Tensor target = c.args[static_cast<size_t>(c.op.outs[i].inplace_of)].tensor();
      write(target, fresh.out(i), true);
      c.out(i) = target;
    }
    return;
  }
  check(!wants || c.op.vjp || c.op.has(kInplaceOnly), ErrorKind::kRuntime, "[{}] has no gradient", c.op.name);
  if (c.op.meta == nullptr && can_break()) {
    // Its results' shapes are known only when it has run.
    std::string why(c.op.name);
    break_here(why.c_str());
    StackScope eager;
    return dispatch::call(c);
  }
  EmitCall(*this, c).run();
}

}  // namespace paddle::dispatch
