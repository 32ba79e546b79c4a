// OpCall: one call of an operator, boxed: the record, borrowed arguments, and the outputs. It is what every interpreter
// (autocast, autograd, dist, eager, trace) sees; the generated functions of api/ops_<family>.h build it on the stack.
#pragma once
#include <forward_list>
#include <optional>

#include "api/op_info.h"
#include "base/error.h"
#include "base/generator.h"
#include "tensor/scalar_value.h"

namespace paddle {

struct TensorMeta {
  DType dtype = DType::kUndefined;
  Shape shape;
};

// One argument, borrowed from the caller for the time of the call. 24 bytes, trivially copyable.
class Arg {
 public:
  enum class Tag : uint8_t {
    kNone,
    kTensor,
    kTensors,
    kScalar,
    kInts,
    kInt,
    kFloat,
    kBool,
    kString,
    kDType,
    kPlace,
    kIntList,
    kFloatList,
    kBoolList,
    kStringList,
    kScalarList
  };
  constexpr Arg() : count_(0), i_(0) {}
  Arg(const Tensor& t) : tag_(t.defined() ? Tag::kTensor : Tag::kNone), count_(1), p_(&t) {}
  Arg(const Tensors& t) : tag_(Tag::kTensors), count_(static_cast<uint32_t>(t.size())), p_(t.data()) {}
  Arg(std::span<const Tensor> t) : tag_(Tag::kTensors), count_(static_cast<uint32_t>(t.size())), p_(t.data()) {}
  Arg(const Scalar& s) : tag_(Tag::kScalar), count_(1), p_(&s) {}
  Arg(const Ints& s) : tag_(Tag::kInts), count_(1), p_(&s) {}
  Arg(int64_t v) : tag_(Tag::kInt), count_(0), i_(v) {}
  Arg(int v) : tag_(Tag::kInt), count_(0), i_(v) {}
  Arg(double v) : tag_(Tag::kFloat), count_(0), d_(v) {}
  Arg(bool v) : tag_(Tag::kBool), count_(0), i_(v) {}
  Arg(std::string_view v) : tag_(Tag::kString), count_(static_cast<uint32_t>(v.size())), p_(v.data()) {}
  Arg(DType v) : tag_(Tag::kDType), count_(0), i_(static_cast<int64_t>(v)) {}
  Arg(Place v) : tag_(Tag::kPlace), count_(0), i_((static_cast<int64_t>(v.kind) << 16) | uint16_t(v.index)) {}
  Arg(std::span<const int64_t> v) : tag_(Tag::kIntList), count_(static_cast<uint32_t>(v.size())), p_(v.data()) {}
  Arg(std::span<const double> v) : tag_(Tag::kFloatList), count_(static_cast<uint32_t>(v.size())), p_(v.data()) {}
  Arg(std::span<const bool> v) : tag_(Tag::kBoolList), count_(static_cast<uint32_t>(v.size())), p_(v.data()) {}
  Arg(std::span<const std::string> v) : tag_(Tag::kStringList), count_(static_cast<uint32_t>(v.size())), p_(v.data()) {}
  Arg(std::span<const Scalar> v) : tag_(Tag::kScalarList), count_(static_cast<uint32_t>(v.size())), p_(v.data()) {}
  template <class T>
  Arg(const std::optional<T>& v) : Arg() {
    if (v) *this = Arg(*v);
  }

  Tag tag() const { return tag_; }
  bool none() const { return tag_ == Tag::kNone; }
  const Tensor& tensor() const {
    static const Tensor undefined;
    return tag_ == Tag::kNone ? undefined : *static_cast<const Tensor*>(p_);
  }
  // kTensor counts as a list of one, none as an empty list.
  std::span<const Tensor> tensors() const { return {static_cast<const Tensor*>(p_), tag_ == Tag::kNone ? 0 : count_}; }
  // The tensors of a tensor argument; empty for none and for every other kind.
  std::span<const Tensor> tensors_or_empty() const {
    return tag_ == Tag::kTensor || tag_ == Tag::kTensors ? tensors() : std::span<const Tensor>{};
  }
  const Scalar& scalar() const { return *static_cast<const Scalar*>(p_); }
  const Ints& ints() const { return *static_cast<const Ints*>(p_); }
  int64_t i() const { return i_; }
  double d() const { return tag_ == Tag::kInt ? static_cast<double>(i_) : d_; }
  bool b() const { return i_ != 0; }
  std::string_view str() const { return {static_cast<const char*>(p_), count_}; }
  DType dtype() const { return none() ? DType::kUndefined : static_cast<DType>(i_); }
  Place place() const { return Place{static_cast<uint8_t>(i_ >> 16), static_cast<int16_t>(i_ & 0xffff)}; }
  std::span<const int64_t> int_list() const { return {static_cast<const int64_t*>(p_), count_}; }
  std::span<const double> float_list() const { return {static_cast<const double*>(p_), count_}; }
  std::span<const bool> bool_list() const { return {static_cast<const bool*>(p_), count_}; }
  std::span<const std::string> string_list() const { return {static_cast<const std::string*>(p_), count_}; }
  std::span<const Scalar> scalar_list() const { return {static_cast<const Scalar*>(p_), count_}; }

 private:
  Tag tag_ = Tag::kNone;
  uint32_t count_;
  union {
    int64_t i_;
    double d_;
    const void* p_;
  };
};

// An output: a tensor, or a list of them.
struct OutSlot {
  Tensor tensor;
  Tensors list;
};

class OpCall {
 public:
  OpCall(const OpInfo& op, std::span<Arg> args) : op(op), args(args) {}
  OpCall(const OpCall&) = delete;

  const OpInfo& op;
  std::span<Arg> args;   // as the record's `args`
  bool inplace = false;  // the `op_` form
  bool metas_ready = false;
  Place place;  // where the outputs go
  // Metadata per output, set by the shape rule. For a list output: metas of its items in `list_metas`.
  TensorMeta first_meta;
  std::vector<TensorMeta> list_metas;
  std::vector<TensorMeta> more_metas;  // outputs from the second on

  OutSlot out0;
  std::vector<OutSlot> more_outs;  // outputs from the second on

  // Owners of arguments that were normalised on the way (a list read from a tensor, a promoted input).
  std::forward_list<Ints> kept_ints;
  std::forward_list<Scalar> kept_scalars;
  std::forward_list<Tensor> kept_tensors;
  std::forward_list<Tensors> kept_lists;
  RandomKey key;  // random operators: drawn before dispatch
  bool key_drawn = false;

  TensorMeta& meta(size_t i) {
    if (i == 0) return first_meta;
    if (more_metas.empty()) more_metas.resize(op.outs.size() - 1);
    return more_metas[i - 1];
  }
  OutSlot& out_slot(size_t i) {
    if (i == 0) return out0;
    if (more_outs.empty()) more_outs.resize(op.outs.size() - 1);
    return more_outs[i - 1];
  }
  Tensor& out(size_t i) { return out_slot(i).tensor; }
  Tensors& out_list(size_t i) { return out_slot(i).list; }
  size_t num_outs() const { return op.outs.size(); }

  const Tensor& tensor(size_t i) const { return args[i].tensor(); }

  // Calls f(const Tensor&) for every defined tensor among the arguments, those inside Scalar and Ints too.
  template <class F>
  void for_each_tensor(F&& f) const {
    for (const Arg& a : args) {
      switch (a.tag()) {
        case Arg::Tag::kTensor:
          f(a.tensor());
          break;
        case Arg::Tag::kTensors:
          for (const Tensor& t : a.tensors())
            if (t.defined()) f(t);
          break;
        case Arg::Tag::kScalar:
          if (a.scalar().kind() == Scalar::Kind::kTensor) f(a.scalar().tensor());
          break;
        case Arg::Tag::kInts:
          if (a.ints().whole().defined()) f(a.ints().whole());
          for (const Tensor& t : a.ints().tensors())
            if (t.defined()) f(t);
          break;
        default:
          break;
      }
    }
  }
};

// A vjp: reads what the record's `saves` names, the attributes and the gradients of the outputs; writes gradients of
// inputs.
struct VjpCall {
  const OpInfo& op;
  std::span<const Arg> args;       // tensors that are not saved by value are metadata-only tensors or none
  std::span<const Arg> outs;       // saved outputs, as args (kTensor / kTensors / none)
  std::span<const Arg> out_grads;  // per output; none where no gradient flows
  std::vector<uint8_t> needs;      // per arg: does anybody want its gradient
  std::vector<OutSlot> in_grads;   // per arg: filled in by the vjp; undefined = zero
};

}  // namespace paddle
