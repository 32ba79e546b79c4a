#include "fuzz_call.h"

#include <limits>

#include "tensor/element.h"

namespace paddle::testing {

using nlohmann::json;

namespace {

bool is_spec(const json& v) { return v.is_object() && v.contains("dtype"); }

json default_value(const ArgInfo& arg) {
  const std::string text(arg.default_text);
  const json parsed = json::parse(text, nullptr, false);
  if (!parsed.is_discarded()) return parsed;
  if (text == "True" || text == "False") return text == "True";
  if (text == "inf" || text == "-inf") return text[0] == '-' ? -HUGE_VAL : HUGE_VAL;
  return text == "None" || text.empty() ? json(nullptr) : json(text);
}

constexpr int64_t kMax = std::numeric_limits<int64_t>::max(), kMin = std::numeric_limits<int64_t>::min();
constexpr DType kDTypes[] = {DType::kBool,      DType::kUInt8,      DType::kInt8,         DType::kInt16,
                             DType::kInt32,     DType::kInt64,      DType::kUInt32,       DType::kUInt64,
                             DType::kFloat16,   DType::kBFloat16,   DType::kFloat32,      DType::kFloat64,
                             DType::kComplex64, DType::kComplex128, DType::kFloat8E4M3FN, DType::kFloat8E5M2};
constexpr const char* kStrings[] = {"NCHW",
                                    "NHWC",
                                    "NCL",
                                    "NDHWC",
                                    "mean",
                                    "sum",
                                    "none",
                                    "",
                                    "SAME",
                                    "VALID",
                                    "max",
                                    "avg",
                                    "reflect",
                                    "replicate",
                                    "circular",
                                    "constant",
                                    "add",
                                    "multiply",
                                    "amin",
                                    "upscale_in_train",
                                    "downscale_in_infer",
                                    "no such word",
                                    "EXPLICIT"};

std::string describe(const Tensor& t) {
  if (!t.defined()) return "None";
  std::string s = fmt::format("{}{}", name_of(t.dtype()), to_string(t.shape()));
  if (!t.is_contiguous()) {
    s += " strides";
    for (int64_t n : t.strides()) s += fmt::format(" {}", n);
  }
  if (!t.stop_gradient()) s += " grad";
  if (is_integer(t.dtype()) && t.numel() <= 8) {
    s += " =";
    for (int64_t i = 0; i < t.numel(); ++i) s += fmt::format(" {}", read_int(t, i));
  }
  return s;
}

template <class List>
std::string describe_list(const List& items) {
  std::string s = "[";
  for (const auto& i : items) s += (s.size() > 1 ? ", " : "") + fmt::format("{}", i);
  return s + "]";
}

}  // namespace

FuzzCall::FuzzCall(const json& row, uint64_t seed) : op(op_named(row["op"].get<std::string>())), rng_(seed) {
  static constexpr double kHowWrong[] = {0, 0.15, 0.15, 0.4, 1};
  wrong_ = kHowWrong[below(5)];
  const json& samples = row["samples"];
  const json sample = samples.empty() ? json::object() : samples[below(static_cast<int64_t>(samples.size()))];
  inplace = op.has(kInplaceVariant) && chance(0.15);
  for (const ArgInfo& arg : op.args) {
    const std::string name(arg.name);
    text_ += (args_.empty() ? "" : ", ") + name + "=";
    args_.push_back(make(arg, sample.contains(name) ? sample[name]
                              : arg.has_default     ? default_value(arg)
                                                    : json(nullptr)));
  }
}

std::string FuzzCall::str() const { return fmt::format("{}{}({})", op.name, inplace ? "_" : "", text_); }

int64_t FuzzCall::any_int() {
  static constexpr int64_t kOdd[] = {
      kMin, kMin / 2, -(int64_t{1} << 40), -(int64_t{1} << 31), int64_t{1} << 31, int64_t{1} << 33, int64_t{1} << 62,
      kMax};
  return chance(0.2) ? kOdd[below(std::size(kOdd))] : below(12) - 4;
}

double FuzzCall::any_float() {
  static const double kOdd[] = {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e300, -1e300, 1e-320, 0.0, -0.0};
  return chance(0.3) ? kOdd[below(std::size(kOdd))] : std::uniform_real_distribution<>(-4, 4)(rng_);
}

void FuzzCall::fill(const Tensor& t, double low, double high) {
  const auto size = static_cast<int64_t>(size_of(t.dtype()));
  const bool odd = chance(0.15);  // also what no sane caller has: NaN, indices far out
  for (int64_t i = 0, n = static_cast<int64_t>(t->storage->bytes()) / size; i < n; ++i) {
    void* p = static_cast<char*>(t->storage->data()) + i * size;
    if (is_inexact(t.dtype())) {
      write_element(p, t.dtype(), odd && chance(0.3) ? any_float() : std::uniform_real_distribution<>(low, high)(rng_));
    } else if (t.dtype() == DType::kBool) {
      *static_cast<uint8_t*>(p) = below(2);
    } else {
      const auto range = std::max<int64_t>(1, static_cast<int64_t>(high) - static_cast<int64_t>(low));
      write_int(p, t.dtype(), odd && chance(0.3) ? any_int() : static_cast<int64_t>(low) + below(range));
    }
  }
}

// Contiguous, transposed, every other element, backwards, or expanded.
Tensor FuzzCall::laid_out(DType dtype, const std::vector<int64_t>& shape) {
  const Shape sizes(shape.begin(), shape.end());
  const int64_t way = below(8);
  if (shape.empty() || way < 4) return Tensor::empty(sizes, dtype, Place::cpu());
  std::vector<int64_t> strides(shape.size());
  int64_t elements = 1;
  if (way == 4) {
    for (size_t i = 0; i < shape.size(); ++i) {
      strides[i] = elements;
      elements *= std::max<int64_t>(shape[i], 1);
    }
  } else {
    elements = way == 5 ? 2 : 1;
    for (size_t i = shape.size(); i-- > 0;) {
      strides[i] = elements;
      elements *= std::max<int64_t>(shape[i], 1);
    }
  }
  int64_t offset = 0;
  const auto axis = static_cast<size_t>(below(static_cast<int64_t>(shape.size())));
  if (way == 6 && shape[axis] > 0) {
    offset = strides[axis] * (shape[axis] - 1);
    strides[axis] = -strides[axis];
  }
  if (way == 7) strides[axis] = 0;
  return Tensor::empty({elements}, dtype).as_view(sizes, strides, offset);
}

Tensor FuzzCall::filled(DType dtype, const std::vector<int64_t>& shape, double low, double high) {
  Tensor t = laid_out(dtype, shape);
  fill(t, low, high);
  if (is_inexact(dtype) && !is_float8(dtype)) t.set_stop_gradient(!chance(0.5));
  return t;
}

Tensor FuzzCall::tensor(const json& spec) {
  const DType dtype = dtype_from_name(spec["dtype"].get<std::string>());
  const auto shape = spec["shape"].get<std::vector<int64_t>>();
  const bool ints = !is_inexact(dtype);
  Tensor t = filled(dtype, shape, spec.value("low", ints ? is_signed_int(dtype) ? -4.0 : 0.0 : -2.0),
                    spec.value("high", ints ? 5.0 : 2.0));
  if (!spec.contains("values") || chance(0.2)) return t;
  // Given values, in the order of the elements. Nested as the shape is.
  std::vector<double> flat;
  auto walk = [&](auto&& self, const json& v) -> void {
    if (!v.is_array()) return flat.push_back(v.is_boolean() ? v.get<bool>() : v.get<double>());
    for (const json& item : v) self(self, item);
  };
  walk(walk, spec["values"]);
  Tensor plain = Tensor::empty(Shape(shape.begin(), shape.end()), dtype, Place::cpu());
  for (size_t i = 0; i < flat.size() && i < static_cast<size_t>(plain.numel()); ++i)
    write_element(static_cast<char*>(plain.data()) + i * size_of(dtype), dtype, flat[i]);
  return plain;
}

Tensor FuzzCall::any_tensor() {
  // Up to official's 9 dimensions, and now and then ours of 32.
  std::vector<int64_t> shape(static_cast<size_t>(chance(0.05) ? 9 : chance(0.02) ? 30 + below(3) : below(6)));
  for (int64_t& n : shape) n = shape.size() > 9 ? 1 : shape.size() > 6 ? 1 + below(2) : below(5);
  return filled(kDTypes[below(std::size(kDTypes))], shape, -3, 4);
}

Tensor FuzzCall::mutated(const json& spec) {
  if (chance(0.25)) return any_tensor();
  DType dtype = dtype_from_name(spec["dtype"].get<std::string>());
  auto shape = spec["shape"].get<std::vector<int64_t>>();
  const int64_t way = below(6);
  if (way == 0) dtype = kDTypes[below(std::size(kDTypes))];
  if (way == 1 || shape.empty()) shape.insert(shape.begin() + below(static_cast<int64_t>(shape.size()) + 1), below(4));
  if (way == 2) shape.erase(shape.begin() + below(static_cast<int64_t>(shape.size())));
  if (way == 3 && !shape.empty()) shape[below(static_cast<int64_t>(shape.size()))] = below(7);
  if (way == 4 && !shape.empty()) shape[below(static_cast<int64_t>(shape.size()))] = 0;
  if (way == 5) shape.clear();
  return filled(dtype, shape, -8, 9);
}

std::vector<int64_t> FuzzCall::any_ints(const json& given) {
  std::vector<int64_t> v;
  if (given.is_array()) v = given.get<std::vector<int64_t>>();
  if (given.is_number()) v = {given.get<int64_t>()};
  if (!chance(wrong_)) return v;
  if (v.empty() || chance(0.3)) {
    v.resize(static_cast<size_t>(below(7)));
    for (int64_t& n : v) n = any_int();
    return v;
  }
  const auto at = below(static_cast<int64_t>(v.size()));
  if (chance(0.2)) {
    v.erase(v.begin() + at);
  } else if (chance(0.2)) {
    v.insert(v.begin() + at, any_int());
  } else {
    v[at] = any_int();
  }
  return v;
}

Arg FuzzCall::make(const ArgInfo& arg, const json& given) {
  auto say = [&](std::string s) { text_ += s; };
  auto one = [&](const json& spec) {
    if (is_spec(spec)) return chance(wrong_) ? mutated(spec) : tensor(spec);
    return chance(wrong_) ? any_tensor() : Tensor();
  };
  const bool wrong = chance(wrong_);
  const bool optional = arg.default_text == "None";
  switch (arg.kind) {
    case ArgKind::kTensor:
    case ArgKind::kOptTensor: {
      Tensor t = one(given);
      if (chance(wrong_ * 0.05)) t = Tensor();
      say(describe(t));
      return t.defined() ? Arg(tensors_.emplace_back(std::move(t))) : Arg();
    }
    case ArgKind::kTensors:
    case ArgKind::kOptTensors: {
      Tensors& list = lists_.emplace_back();
      if (given.is_array())
        for (const json& item : given) list.push_back(one(item));
      if (chance(wrong_ * 0.3)) list.push_back(any_tensor());
      if (!list.empty() && chance(wrong_ * 0.3)) list.pop_back();
      if (!list.empty() && chance(wrong_ * 0.1)) list[0] = Tensor();
      std::vector<std::string> items;
      for (const Tensor& t : list) items.push_back(describe(t));
      say(describe_list(items));
      return Arg(list);
    }
    case ArgKind::kScalar: {
      Scalar s;
      if (given.is_object() && !wrong) {
        s = Scalar(tensor(given["tensor"]));
      } else if (wrong && chance(0.2)) {
        s = Scalar(any_tensor());
      } else if (wrong && chance(0.3)) {
        s = Scalar(std::complex<double>(any_float(), any_float()));
      } else if (wrong || !given.is_primitive() || given.is_null() || given.is_string()) {
        s = chance(0.5) ? Scalar(any_float()) : Scalar(any_int());
      } else {
        s = given.is_boolean()          ? Scalar(given.get<bool>())
            : given.is_number_integer() ? Scalar(given.get<int64_t>())
                                        : Scalar(given.get<double>());
      }
      say(s.kind() == Scalar::Kind::kTensor ? describe(s.tensor()) : s.str());
      return Arg(scalars_.emplace_back(std::move(s)));
    }
    case ArgKind::kInts: {
      if (given.is_object() || (wrong && chance(0.15))) {
        Tensor whole = given.is_object() && !wrong ? tensor(given["tensor"]) : any_tensor();
        say("tensor " + describe(whole));
        return Arg(ints_.emplace_back(Ints(whole)));
      }
      const auto v = any_ints(given);
      say(describe_list(v));
      Shape dims(v.begin(), v.end());
      if (v.empty() || !chance(0.1)) return Arg(ints_.emplace_back(dims));
      Tensors items(v.size());
      items[0] = wrong ? any_tensor() : Tensor::empty({}, DType::kInt64);
      if (!wrong) write_int(items[0].data(), DType::kInt64, v[0]);
      say(" with " + describe(items[0]));
      return Arg(ints_.emplace_back(dims, items));
    }
    case ArgKind::kInt:
    case ArgKind::kOptInt: {
      if (!wrong && given.is_null() && optional) return say("None"), Arg();
      const int64_t v = wrong || !given.is_number() ? any_int() : given.get<int64_t>();
      say(fmt::format("{}", v));
      return Arg(v);
    }
    case ArgKind::kFloat:
    case ArgKind::kOptFloat: {
      if (!wrong && given.is_null() && optional) return say("None"), Arg();
      const double v = wrong || !given.is_number() ? any_float() : given.get<double>();
      say(fmt::format("{}", v));
      return Arg(v);
    }
    case ArgKind::kBool:
    case ArgKind::kOptBool: {
      if (!wrong && given.is_null() && optional) return say("None"), Arg();
      const bool v = wrong || !given.is_boolean() ? below(2) == 1 : given.get<bool>();
      say(v ? "True" : "False");
      return Arg(v);
    }
    case ArgKind::kString: {
      auto& s = strings_.emplace_back(wrong || !given.is_string() ? kStrings[below(std::size(kStrings))]
                                                                  : given.get<std::string>());
      say(fmt::format("\"{}\"", s));
      return Arg(std::string_view(s));
    }
    case ArgKind::kDType:
    case ArgKind::kOptDType: {
      if (!wrong && given.is_null()) return say("None"), Arg();
      const DType d =
          wrong || !given.is_string() ? kDTypes[below(std::size(kDTypes))] : dtype_from_name(given.get<std::string>());
      say(std::string(name_of(d)));
      return d == DType::kUndefined ? Arg() : Arg(d);
    }
    case ArgKind::kPlace:
      say("None");
      return {};
    case ArgKind::kIntList: {
      auto& v = int_lists_.emplace_back(any_ints(given));
      say(describe_list(v));
      return Arg(std::span<const int64_t>(v));
    }
    case ArgKind::kFloatList: {
      auto& v = float_lists_.emplace_back();
      if (given.is_array() && !wrong) v = given.get<std::vector<double>>();
      for (int64_t i = wrong ? below(5) : 0; i-- > 0;) v.push_back(any_float());
      say(describe_list(v));
      return Arg(std::span<const double>(v));
    }
    case ArgKind::kBoolList: {
      const size_t n = given.is_array() && !wrong ? given.size() : static_cast<size_t>(below(4));
      bool* v = bools_.emplace_back(std::make_unique<bool[]>(n)).get();
      for (size_t i = 0; i < n; ++i) v[i] = below(2) == 1;
      say(describe_list(std::span<const bool>(v, n)));
      return Arg(std::span<const bool>(v, n));
    }
    case ArgKind::kStringList: {
      auto& v = string_lists_.emplace_back();
      if (given.is_array() && !wrong) v = given.get<std::vector<std::string>>();
      for (int64_t i = wrong ? below(3) : 0; i-- > 0;) v.emplace_back(kStrings[below(std::size(kStrings))]);
      say(describe_list(v));
      return Arg(std::span<const std::string>(v));
    }
    case ArgKind::kScalarList: {
      auto& v = scalar_lists_.emplace_back();
      if (given.is_array() && !wrong)
        for (const json& item : given) v.emplace_back(item.get<double>());
      for (int64_t i = wrong ? below(5) : 0; i-- > 0;)
        v.push_back(chance(0.5) ? Scalar(any_float()) : Scalar(any_int()));
      say(fmt::format("{} numbers", v.size()));
      return Arg(std::span<const Scalar>(v));
    }
  }
  return {};
}

}  // namespace paddle::testing
