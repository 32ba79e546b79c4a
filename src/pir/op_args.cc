#include "pir/op_args.h"

#include <charconv>
#include <cstring>
#include <forward_list>

#include "base/error.h"

namespace paddle::pir {
namespace {

Attribute of_scalar(const Scalar& s) {
  switch (s.kind()) {
    case Scalar::Kind::kBool:
      return Attribute::boolean(s.to_bool());
    case Scalar::Kind::kInt:
      return Attribute::i64(s.to_int());
    case Scalar::Kind::kFloat:
      return Attribute::f64(s.to_double());
    case Scalar::Kind::kComplex:
      return Attribute::c128(s.to_complex());
    case Scalar::Kind::kDim:
      return Attribute::dim(s.dim());
    case Scalar::Kind::kTensor:
      break;
  }
  throw InternalError("a tensor can't be an attribute");
}

Attribute of_int(int64_t v) {
  return v >= INT32_MIN && v <= INT32_MAX ? Attribute::i32(static_cast<int32_t>(v)) : Attribute::i64(v);
}

// As narrow as the value allows, as integers are; files say each argument in its own width (wire_types.h).
Attribute of_float(double v) {
  const auto narrow = static_cast<float>(v);
  return static_cast<double>(narrow) == v || v != v ? Attribute::f32(narrow) : Attribute::f64(v);
}

Attribute of_float_list(std::span<const double> v) {
  std::vector<Attribute> items;
  for (double x : v) items.push_back(of_float(x));
  return Attribute::array(items);
}

Attribute of_int_list(std::span<const int64_t> v) {
  for (int64_t x : v)
    if (x < INT32_MIN || x > INT32_MAX) return Attribute::i64s(v);
  return Attribute::i32s(v);
}

Scalar scalar_of(const Attribute& a) {
  switch (a.kind()) {
    case AttrKind::kBool:
      return Scalar(a.as_bool());
    case AttrKind::kInt32:
    case AttrKind::kInt64:
      return Scalar(a.as_int());
    case AttrKind::kFloat:
    case AttrKind::kDouble:
      return Scalar(a.as_double());
    case AttrKind::kComplex64:
    case AttrKind::kComplex128:
      return Scalar(a.as_complex());
    case AttrKind::kDim:
      return Scalar(a.as_dim());
    default:
      return scalar_of(a.inner());
  }
}

// ---- default texts of records ------------------------------------------------------------------------------------

std::string_view trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

struct DefaultText {
  const ArgInfo& arg;

  [[noreturn]] void bad() const {
    throw InternalError(
        fmt::format("the default \"{}\" of argument \"{}\" doesn't fit its kind", arg.default_text, arg.name));
  }
  int64_t integer(std::string_view s) const {
    int64_t v = 0;
    auto r = std::from_chars(s.data(), s.data() + s.size(), v);
    if (r.ec != std::errc() || r.ptr != s.data() + s.size()) bad();
    return v;
  }
  double real(std::string_view s) const {
    if (s.ends_with('f') && !s.ends_with("inf")) s.remove_suffix(1);
    double v = 0;
    auto r = std::from_chars(s.data(), s.data() + s.size(), v);
    if (r.ec != std::errc() || r.ptr != s.data() + s.size()) bad();
    return v;
  }
  bool boolean(std::string_view s) const {
    if (s == "True" || s == "true") return true;
    if (s == "False" || s == "false") return false;
    bad();
  }
  std::string_view string(std::string_view s) const {
    if (s.size() >= 2 && (s.front() == '"' || s.front() == '\'') && s.back() == s.front())
      return s.substr(1, s.size() - 2);
    return s;
  }
  std::vector<std::string_view> items(std::string_view s) const {
    bool brackets = s.size() >= 2 && ((s.front() == '[' && s.back() == ']') || (s.front() == '(' && s.back() == ')') ||
                                      (s.front() == '{' && s.back() == '}'));
    if (!brackets) return {s};
    s = trim(s.substr(1, s.size() - 2));
    std::vector<std::string_view> r;
    while (!s.empty()) {
      size_t comma = s.find(',');
      r.push_back(trim(s.substr(0, comma)));
      s = comma == std::string_view::npos ? std::string_view() : trim(s.substr(comma + 1));
    }
    return r;
  }
  Attribute scalar(std::string_view s) const {
    if (s == "True" || s == "true" || s == "False" || s == "false") return Attribute::boolean(boolean(s));
    bool whole = s.find_first_of(".einfINF") == std::string_view::npos;
    return whole ? Attribute::i64(integer(s)) : Attribute::f64(real(s));
  }
  DType dtype(std::string_view s) const {
    if (s == "Undefined" || s == "undefined" || s == "UNDEFINED") return DType::kUndefined;
    DType t = dtype_from_name(s);
    if (t == DType::kUndefined) bad();
    return t;
  }
  template <class F>
  Attribute list(std::string_view s, F one) const {
    std::vector<Attribute> r;
    for (std::string_view item : items(s)) r.push_back(one(item));
    return Attribute::array(r);
  }
};

}  // namespace

Attribute to_attribute(const ArgInfo& info, const Arg& arg) {
  if (arg.none()) {
    if (info.kind == ArgKind::kOptDType || info.kind == ArgKind::kDType) return Attribute::dtype(DType::kUndefined);
    if (info.kind == ArgKind::kPlace) return Attribute::undefined_place();
    return {};
  }
  switch (arg.tag()) {
    case Arg::Tag::kScalar:
      return info.kind == ArgKind::kScalar ? Attribute::scalar(of_scalar(arg.scalar())) : of_scalar(arg.scalar());
    case Arg::Tag::kInts:
      if (!arg.ints().resolved())
        throw InternalError(fmt::format("argument \"{}\" holds tensors and can't be an attribute", info.name));
      return Attribute::ints(view(arg.ints().values()));
    case Arg::Tag::kInt:
      return info.kind == ArgKind::kFloat || info.kind == ArgKind::kOptFloat ? of_float(static_cast<double>(arg.i()))
                                                                             : of_int(arg.i());
    case Arg::Tag::kFloat:
      return of_float(arg.d());
    case Arg::Tag::kBool:
      return Attribute::boolean(arg.b());
    case Arg::Tag::kString:
      return Attribute::string(arg.str());
    case Arg::Tag::kDType:
      return Attribute::dtype(arg.dtype());
    case Arg::Tag::kPlace:
      return Attribute::place(arg.place());
    case Arg::Tag::kIntList:
      return of_int_list(arg.int_list());
    case Arg::Tag::kFloatList:
      return of_float_list(arg.float_list());
    case Arg::Tag::kBoolList:
      return Attribute::bools(arg.bool_list());
    case Arg::Tag::kStringList:
      return Attribute::strings(arg.string_list());
    case Arg::Tag::kScalarList: {
      std::vector<Attribute> items;
      for (const Scalar& s : arg.scalar_list()) items.push_back(Attribute::scalar(of_scalar(s)));
      return Attribute::array(items);
    }
    default:
      throw InternalError(fmt::format("argument \"{}\" can't be an attribute", info.name));
  }
}

Attribute default_attribute(const ArgInfo& info) {
  std::string_view text = trim(info.default_text);
  DefaultText d{info};
  bool none = !info.has_default || text == "None" || text.empty();
  switch (info.kind) {
    case ArgKind::kDType:
    case ArgKind::kOptDType:
      if (!info.has_default && info.kind == ArgKind::kDType) return {};
      return Attribute::dtype(none ? DType::kUndefined : d.dtype(d.string(text)));
    case ArgKind::kPlace:
      return info.has_default ? Attribute::undefined_place() : Attribute();
    default:
      break;
  }
  if (info.has_default && info.kind == ArgKind::kString && text != "None") return Attribute::string(d.string(text));
  if (none) return {};
  switch (info.kind) {
    case ArgKind::kInt:
    case ArgKind::kOptInt:
      return of_int(d.integer(text));
    case ArgKind::kFloat:
    case ArgKind::kOptFloat:
      return of_float(d.real(text));
    case ArgKind::kBool:
    case ArgKind::kOptBool:
      return Attribute::boolean(d.boolean(text));
    case ArgKind::kScalar:
      return Attribute::scalar(d.scalar(text));
    case ArgKind::kInts: {
      Shape s;
      for (std::string_view item : d.items(text)) s.push_back(d.integer(item));
      return Attribute::ints(view(s));
    }
    case ArgKind::kIntList: {
      std::vector<int64_t> v;
      for (std::string_view item : d.items(text)) v.push_back(d.integer(item));
      return of_int_list(v);
    }
    case ArgKind::kFloatList:
      return d.list(text, [&](auto s) { return of_float(d.real(s)); });
    case ArgKind::kBoolList:
      return d.list(text, [&](auto s) { return Attribute::boolean(d.boolean(s)); });
    case ArgKind::kStringList:
      return d.list(text, [&](auto s) { return Attribute::string(d.string(s)); });
    case ArgKind::kScalarList:
      return d.list(text, [&](auto s) { return Attribute::scalar(d.scalar(s)); });
    default:
      return {};
  }
}

struct BoundArgs::Store {
  std::forward_list<OutSlot> slots;
  std::forward_list<Scalar> scalars;
  std::forward_list<Ints> ints;
  std::forward_list<std::vector<int64_t>> int_lists;
  std::forward_list<std::vector<double>> float_lists;
  std::forward_list<std::unique_ptr<bool[]>> bool_lists;
  std::forward_list<std::vector<std::string>> string_lists;
  std::forward_list<std::vector<Scalar>> scalar_lists;
};

BoundArgs::~BoundArgs() = default;

BoundArgs::BoundArgs(const Operation& op, const TensorOf& tensor_of)
    : BoundArgs(op.def(), op.operands(), op.attrs(), tensor_of) {}

BoundArgs::BoundArgs(const OpDef& def, std::span<const Value> operands, const AttrMap& attrs, const TensorOf& tensor_of)
    : def_(def), store_(std::make_unique<Store>()) {
  if (!def.info) throw InternalError("operation " + def.name + " has no record");
  args_.resize(def.info->args.size());
  for (size_t i = 0; i < def.operands.size() && i < operands.size(); ++i)
    if (def.operands[i].arg >= 0) bind_operand(static_cast<size_t>(def.operands[i].arg), operands[i], tensor_of);
  for (const AttrDef& a : def.attrs) {
    if (a.arg < 0) continue;
    Attribute value = attrs.get(a.name);
    if (!value) value = a.default_value;
    if (value) bind_attribute(static_cast<size_t>(a.arg), value);
  }
}

namespace {
// Items that are constants of the program are numbers, so that rules know what follows from them.
Ints mixed_ints(Value list, Tensors items) {
  Shape values(items.size(), Dim(0));
  if (list.is_result() && list.defining_op()->is("builtin.combine") &&
      list.defining_op()->num_operands() == items.size())
    for (size_t i = 0; i < items.size(); ++i) {
      const Value item = list.defining_op()->operand(i);
      const Attribute known = item ? known_value(item) : Attribute();
      if (known.kind() != AttrKind::kScalar) continue;
      if (known.inner().kind() != AttrKind::kInt64 && known.inner().kind() != AttrKind::kDim) continue;
      values[i] = known.inner().as_dim();
      items[i] = Tensor();
    }
  return Ints(view(values), std::move(items));
}
}  // namespace

void BoundArgs::bind_operand(size_t arg, Value v, const TensorOf& tensor_of) {
  if (!v || v.type().kind() == TypeKind::kNone) return;
  ArgKind kind = def_.info->args[arg].kind;
  if (kind == ArgKind::kScalar || kind == ArgKind::kInts) {
    Attribute known = known_value(v);
    if (kind == ArgKind::kScalar && known.kind() == AttrKind::kScalar) {
      args_[arg] = Arg(store_->scalars.emplace_front(scalar_of(known)));
      return;
    }
    if (kind == ArgKind::kInts && known) {
      Shape items = known.kind() == AttrKind::kScalar ? Shape{known.inner().as_dim()} : known.as_ints();
      args_[arg] = Arg(store_->ints.emplace_front(view(items)));
      return;
    }
  }
  OutSlot& slot = store_->slots.emplace_front(tensor_of(v));
  bool list = v.type().is_vector();
  switch (kind) {
    case ArgKind::kScalar:
      args_[arg] = Arg(store_->scalars.emplace_front(slot.tensor));
      break;
    case ArgKind::kInts:
      if (list) {
        args_[arg] = Arg(store_->ints.emplace_front(mixed_ints(v, slot.list)));
      } else {
        args_[arg] = Arg(store_->ints.emplace_front(slot.tensor));
      }
      break;
    case ArgKind::kTensors:
    case ArgKind::kOptTensors:
      args_[arg] = list ? Arg(slot.list) : Arg(std::span<const Tensor>(&slot.tensor, 1));
      break;
    default:
      args_[arg] = Arg(slot.tensor);
  }
}

void BoundArgs::bind_attribute(size_t arg, const Attribute& a) {
  const ArgInfo& info = def_.info->args[arg];
  Arg& to = args_[arg];
  auto ints = [&] {
    auto& v = store_->int_lists.emplace_front();
    for (Dim d : a.as_ints()) v.push_back(guard_int(d));
    return std::span<const int64_t>(v);
  };
  switch (info.kind) {
    case ArgKind::kInt:
    case ArgKind::kOptInt:
      to = Arg(guard_int(a.as_dim()));
      break;
    case ArgKind::kFloat:
    case ArgKind::kOptFloat:
      to = Arg(a.as_double());
      break;
    case ArgKind::kBool:
    case ArgKind::kOptBool:
      to = Arg(a.as_bool());
      break;
    case ArgKind::kString:
      to = Arg(std::string_view(a.as_string()));
      break;
    case ArgKind::kDType:
    case ArgKind::kOptDType:
      if (a.as_dtype() != DType::kUndefined) to = Arg(a.as_dtype());
      break;
    case ArgKind::kPlace:
      to = Arg(a.as_place());
      break;
    case ArgKind::kScalar:
      to = Arg(store_->scalars.emplace_front(scalar_of(a)));
      break;
    case ArgKind::kInts:
      to = Arg(store_->ints.emplace_front(view(a.as_ints())));
      break;
    case ArgKind::kIntList:
      to = Arg(ints());
      break;
    case ArgKind::kFloatList: {
      auto& v = store_->float_lists.emplace_front();
      for (const Attribute& x : a.items()) v.push_back(x.as_double());
      to = Arg(std::span<const double>(v));
      break;
    }
    case ArgKind::kBoolList: {
      size_t n = a.items().size();
      auto& v = store_->bool_lists.emplace_front(std::make_unique<bool[]>(n));
      for (size_t i = 0; i < n; ++i) v[i] = a.items()[i].as_bool();
      to = Arg(std::span<const bool>(v.get(), n));
      break;
    }
    case ArgKind::kStringList: {
      auto& v = store_->string_lists.emplace_front();
      for (const Attribute& x : a.items()) v.push_back(x.as_string());
      to = Arg(std::span<const std::string>(v));
      break;
    }
    case ArgKind::kScalarList: {
      auto& v = store_->scalar_lists.emplace_front();
      for (const Attribute& x : a.items()) v.push_back(scalar_of(x));
      to = Arg(std::span<const Scalar>(v));
      break;
    }
    default:
      throw InternalError(fmt::format("argument \"{}\" of {} is no attribute", info.name, def_.name));
  }
}

}  // namespace paddle::pir
