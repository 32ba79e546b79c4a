#include "pir/type.h"

#include <array>
#include <mutex>
#include <unordered_map>

#include "base/error.h"
#include "pir/dist_text.h"
#include "spmd/placement.h"

namespace paddle::pir {
namespace {

struct LayoutName {
  Layout layout;
  std::string_view name;
};
constexpr LayoutName kLayouts[] = {
    {Layout::kNCHW, "NCHW"},
    {Layout::kNHWC, "NHWC"},
    {Layout::kNCDHW, "NCDHW"},
    {Layout::kNDHWC, "NDHWC"},
    {Layout::kAny, "Undefined(AnyLayout)"},
    {Layout::kOneDNN, "ONEDNN"},
    {Layout::kSparseCoo, "SPARSE_COO"},
    {Layout::kSparseCsr, "SPARSE_CSR"},
};

struct DTypeName {
  DType dtype;
  std::string_view name;
};
constexpr DTypeName kDTypes[] = {
    {DType::kUndefined, "undefined"},
    {DType::kBool, "b"},
    {DType::kUInt8, "u8"},
    {DType::kInt8, "i8"},
    {DType::kInt16, "i16"},
    {DType::kInt32, "i32"},
    {DType::kInt64, "i64"},
    {DType::kUInt16, "u16"},
    {DType::kUInt32, "u32"},
    {DType::kUInt64, "u64"},
    {DType::kFloat16, "f16"},
    {DType::kBFloat16, "bf16"},
    {DType::kFloat32, "f32"},
    {DType::kFloat64, "f64"},
    {DType::kComplex64, "c64"},
    {DType::kComplex128, "c128"},
    {DType::kFloat8E4M3FN, "f8e4m3fn"},
    {DType::kFloat8E5M2, "f8e5m2"},
};

std::string_view kind_name(TypeKind kind) {
  switch (kind) {
    case TypeKind::kTensor:
      return "tensor";
    case TypeKind::kSelectedRows:
      return "selected_rows";
    case TypeKind::kSparseCoo:
      return "coo_tensor";
    case TypeKind::kSparseCsr:
      return "csr_tensor";
    case TypeKind::kTensorArray:
      return "tensor_array";
    case TypeKind::kVector:
      return "vec";
    case TypeKind::kDist:
      return "dist_tensor";
    case TypeKind::kScalar:
      return "scalar";
    case TypeKind::kStack:
      return "stack";
    case TypeKind::kInlet:
      return "inlet";
    case TypeKind::kOutlet:
      return "outlet";
    case TypeKind::kNone:
      break;
  }
  return "none";
}

size_t mix(size_t seed, size_t v) { return (seed ^ v) * 0x9E3779B97F4A7C15ull + (seed >> 29); }

size_t hash_of(const TypeData& d) {
  size_t h = mix(static_cast<size_t>(d.kind), (static_cast<size_t>(d.dtype) << 8) | static_cast<size_t>(d.layout));
  for (Dim x : d.shape) h = mix(h, static_cast<size_t>(x.bits()));
  for (Type t : d.elements) h = mix(h, t.hash());
  if (d.dist) h = mix(h, std::hash<std::string>()(dist_text(*d.dist)));
  return h;
}

bool same(const TypeData& a, const TypeData& b) {
  return a.kind == b.kind && a.dtype == b.dtype && a.layout == b.layout && a.shape == b.shape &&
         a.elements == b.elements && (a.dist == b.dist || (a.dist && b.dist && *a.dist == *b.dist));
}

// A dimension inside tensor<...>, where "x" separates: only numbers and S<digits> go bare.
std::string dim_text(Dim d) {
  std::string s = d.str();
  if (d.is_const()) return s;
  bool bare = s.size() > 1 && s[0] == 'S' && s.find_first_not_of("0123456789", 1) == std::string::npos;
  return bare ? s : "(" + s + ")";
}

std::string tensor_body(const TypeData& d) {
  std::string s;
  for (Dim x : d.shape) s += dim_text(x) + "x";
  s += short_name_of(d.dtype);
  if (d.layout != Layout::kNCHW) s += fmt::format(", {}", name_of(d.layout));
  return s;
}

}  // namespace

class TypeTable {
 public:
  static TypeTable& get() {
    static TypeTable* table = new TypeTable;  // outlives every static that holds a type
    return *table;
  }
  Type intern(TypeData&& data) {
    size_t h = hash_of(data);
    std::lock_guard lock(mutex_);
    auto [first, last] = types_.equal_range(h);
    for (; first != last; ++first)
      if (same(*first->second, data)) return Type(first->second);
    const TypeData* fresh = new TypeData(std::move(data));
    types_.emplace(h, fresh);
    return Type(fresh);
  }

 private:
  std::mutex mutex_;
  std::unordered_multimap<size_t, const TypeData*> types_;
};

std::string_view name_of(Layout layout) { return kLayouts[static_cast<size_t>(layout)].name; }

bool layout_from_name(std::string_view name, Layout* out) {
  for (const LayoutName& l : kLayouts)
    if (l.name == name) {
      *out = l.layout;
      return true;
    }
  return false;
}

std::string_view short_name_of(DType dtype) {
  for (const DTypeName& d : kDTypes)
    if (d.dtype == dtype) return d.name;
  return "undefined";
}

DType dtype_from_short_name(std::string_view name) {
  for (const DTypeName& d : kDTypes)
    if (d.name == name) return d.dtype;
  return DType::kUndefined;
}

Type Type::tensor(DType dtype, const Shape& shape, Layout layout) {
  return tensor_like(TypeKind::kTensor, dtype, shape, layout);
}

Type Type::tensor_like(TypeKind kind, DType dtype, const Shape& shape, Layout layout) {
  PD_INVARIANT(kind >= TypeKind::kTensor && kind <= TypeKind::kTensorArray);
  return TypeTable::get().intern({kind, dtype, layout, shape, {}, nullptr});
}

Type Type::vector(std::span<const Type> elements) {
  TypeData d;
  d.kind = TypeKind::kVector;
  d.elements.assign(elements.begin(), elements.end());
  return TypeTable::get().intern(std::move(d));
}

Type Type::scalar(DType dtype) {
  TypeData d;
  d.kind = TypeKind::kScalar;
  d.dtype = dtype;
  return TypeTable::get().intern(std::move(d));
}

Type Type::marker(TypeKind kind) {
  PD_INVARIANT(kind >= TypeKind::kStack);
  TypeData d;
  d.kind = kind;
  return TypeTable::get().intern(std::move(d));
}

Type Type::dist(Type global, const spmd::DistAttr& attr) {
  PD_INVARIANT(global.is_tensor());
  Shape local = global.shape();
  auto axes = spmd::dims_mapping(attr.placements, static_cast<int>(local.size()));
  for (size_t i = 0; i < local.size(); ++i)
    for (int axis : axes[i]) local[i] = ceil_div(local[i], Dim(attr.mesh.dim_size(axis)));
  return dist(global, attr, local);
}

Type Type::dist(Type global, const spmd::DistAttr& attr, const Shape& local) {
  PD_INVARIANT(global.is_tensor() && local.size() == global.shape().size());
  TypeData d;
  d.kind = TypeKind::kDist;
  d.dtype = global.dtype();
  d.layout = global.layout();
  d.shape = global.shape();
  d.elements = {tensor(d.dtype, local, d.layout)};
  d.dist = std::make_shared<const spmd::DistAttr>(attr);
  return TypeTable::get().intern(std::move(d));
}

DType Type::dtype() const {
  if (!has_shape() && kind() != TypeKind::kScalar) throw InternalError(fmt::format("type {} has no dtype", str()));
  return data_->dtype;
}

const Shape& Type::shape() const {
  if (!has_shape()) throw InternalError(fmt::format("type {} has no shape", str()));
  return data_->shape;
}

Layout Type::layout() const {
  if (!has_shape()) throw InternalError(fmt::format("type {} has no layout", str()));
  return data_->layout;
}

std::span<const Type> Type::elements() const {
  if (!is_vector()) throw InternalError(fmt::format("type {} is no list", str()));
  return data_->elements;
}

Type Type::local() const { return is_dist() ? data_->elements[0] : *this; }
Type Type::global() const { return is_dist() ? tensor(data_->dtype, data_->shape, data_->layout) : *this; }

const spmd::DistAttr& Type::dist_attr() const {
  if (!is_dist()) throw InternalError(fmt::format("type {} is not distributed", str()));
  return *data_->dist;
}

Type Type::with_shape(const Shape& shape) const {
  if (is_dist()) return dist(tensor(dtype(), shape, layout()), *data_->dist);
  return tensor_like(kind(), dtype(), shape, layout());
}

Type Type::with_dtype(DType dtype) const {
  if (is_dist()) return dist(tensor(dtype, shape(), layout()), *data_->dist, data_->elements[0].shape());
  return tensor_like(kind(), dtype, shape(), layout());
}

std::string Type::str() const {
  if (!data_) return "none";
  const TypeData& d = *data_;
  std::string name(kind_name(d.kind));
  switch (d.kind) {
    case TypeKind::kNone:
      return name;
    case TypeKind::kStack:
    case TypeKind::kInlet:
    case TypeKind::kOutlet:
      return name;
    case TypeKind::kScalar:
      return fmt::format("scalar<{}>", short_name_of(d.dtype));
    case TypeKind::kVector: {
      std::string s = "vec[";
      for (size_t i = 0; i < d.elements.size(); ++i) s += (i ? ", " : "") + d.elements[i].str();
      return s + "]";
    }
    case TypeKind::kDist:
      return fmt::format("dist_tensor<{}, {}, local {}>", tensor_body(d), dist_text(*d.dist),
                         to_string(view(local().shape())));
    default:
      return name + "<" + tensor_body(d) + ">";
  }
}

Type map_dims(Type type, const std::function<Dim(Dim)>& to) {
  auto map_shape = [&](const Shape& s) {
    Shape r;
    for (Dim d : s) r.push_back(to(d));
    return r;
  };
  if (type.is_vector()) {
    std::vector<Type> items;
    for (Type t : type.elements()) items.push_back(map_dims(t, to));
    return Type::vector(items);
  }
  if (type.is_dist())
    return Type::dist(Type::tensor(type.dtype(), map_shape(type.shape()), type.layout()), type.dist_attr(),
                      map_shape(type.local().shape()));
  if (!type.has_shape()) return type;
  return Type::tensor_like(type.kind(), type.dtype(), map_shape(type.shape()), type.layout());
}

}  // namespace paddle::pir
