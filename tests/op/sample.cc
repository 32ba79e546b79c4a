#include "sample.h"

#include <limits>

namespace paddle::testing {

using nlohmann::json;

namespace {
bool is_spec(const json& v) { return v.is_object() && v.contains("dtype"); }

// A default as the record writes it: "-1", "\"NCHW\"", "None", "[1, 2]", "inf".
json default_value(const ArgInfo& arg) {
  std::string text(arg.default_text);
  if (text == "None") return nullptr;
  if (text == "True" || text == "False") return text == "True";
  if (text == "inf" || text == "-inf")
    return text[0] == '-' ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  if (arg.kind == ArgKind::kDType || arg.kind == ArgKind::kOptDType) return text;
  return json::parse(text);
}
}  // namespace

Sample::Sample(const OpInfo& op, const json& values, bool symbolic) : symbolic_(symbolic) {
  for (const ArgInfo& arg : op.args) {
    const std::string name(arg.name);
    json v = values.contains(name) ? values[name] : arg.has_default ? default_value(arg) : json(nullptr);
    args_.push_back(read(arg, v));
  }
}

Tensor Sample::tensor(const json& spec) const {
  Shape shape;
  for (int64_t n : spec["shape"]) shape.push_back(symbolic_ && n > 1 ? new_symbol(n) : Dim(n));
  return Tensor::meta(shape, dtype_from_name(spec["dtype"].get<std::string>()), Place::cpu());
}

Scalar Sample::scalar(const json& v) const {
  if (v.is_boolean()) return Scalar(v.get<bool>());
  if (v.is_number_integer()) return Scalar(v.get<int64_t>());
  if (v.is_object()) return Scalar(tensor(v["tensor"]));
  return Scalar(v.get<double>());
}

Arg Sample::read(const ArgInfo& arg, const json& v) {
  auto list = [&] { return v.is_array() ? v : json::array({v}); };
  switch (arg.kind) {
    case ArgKind::kTensor:
    case ArgKind::kOptTensor:
      return is_spec(v) ? Arg(tensors_.emplace_back(tensor(v))) : Arg();
    case ArgKind::kTensors:
    case ArgKind::kOptTensors: {
      Tensors& out = lists_.emplace_back();
      for (const json& item : v) out.push_back(item.is_null() ? Tensor() : tensor(item));
      return Arg(out);
    }
    case ArgKind::kScalar:
      return v.is_null() ? Arg() : Arg(scalars_.emplace_back(scalar(v)));
    case ArgKind::kInts: {
      if (v.is_null()) return {};
      if (v.is_object()) return Arg(ints_.emplace_back(tensor(v["tensor"])));
      Shape dims;
      for (const json& item : list()) dims.push_back(item.get<int64_t>());
      return Arg(ints_.emplace_back(dims));
    }
    case ArgKind::kInt:
    case ArgKind::kOptInt:
      return v.is_null() ? Arg() : Arg(v.get<int64_t>());
    case ArgKind::kFloat:
    case ArgKind::kOptFloat:
      return v.is_null() ? Arg() : v.is_string() ? Arg(std::stod(v.get<std::string>())) : Arg(v.get<double>());
    case ArgKind::kBool:
    case ArgKind::kOptBool:
      return v.is_null() ? Arg() : Arg(v.get<bool>());
    case ArgKind::kString:
      return Arg(std::string_view(strings_.emplace_back(v.get<std::string>())));
    case ArgKind::kDType:
    case ArgKind::kOptDType:
      return v.is_null() ? Arg() : Arg(dtype_from_name(v.get<std::string>()));
    case ArgKind::kPlace:
      return {};
    case ArgKind::kIntList:
      return Arg(std::span<const int64_t>(int_lists_.emplace_back(list().get<std::vector<int64_t>>())));
    case ArgKind::kFloatList:
      return Arg(std::span<const double>(float_lists_.emplace_back(list().get<std::vector<double>>())));
    case ArgKind::kBoolList: {
      const json items = list();
      bool* out = bools_.emplace_back(std::make_unique<bool[]>(items.size())).get();
      for (size_t i = 0; i < items.size(); ++i) out[i] = items[i].get<bool>();
      return Arg(std::span<const bool>(out, items.size()));
    }
    case ArgKind::kStringList:
      return Arg(std::span<const std::string>(string_lists_.emplace_back(list().get<std::vector<std::string>>())));
    case ArgKind::kScalarList: {
      auto& out = scalar_lists_.emplace_back();
      for (const json& item : list()) out.push_back(scalar(item));
      return Arg(std::span<const Scalar>(out));
    }
  }
  return {};
}

}  // namespace paddle::testing
