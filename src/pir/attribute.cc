#include "pir/attribute.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "pir/dist_text.h"
#include "pir/text.h"
#include "spmd/placement.h"

namespace paddle::pir {

struct CountedDense {
  DenseData data;
  std::atomic<uint32_t> refs{1};
};

namespace {

constexpr int64_t kUndefinedPlace = int64_t{1} << 40;

CountedDense* counted(uintptr_t data) { return reinterpret_cast<CountedDense*>(data & ~uintptr_t{1}); }

size_t mix(size_t seed, size_t v) { return (seed ^ v) * 0x9E3779B97F4A7C15ull + (seed >> 29); }

size_t hash_of(const AttrData& d) {
  size_t h = mix(static_cast<size_t>(d.kind), static_cast<size_t>(d.bits));
  // Bits, not values: -0.0 and 0.0 are different attributes, and a NaN equals itself.
  h = mix(mix(h, std::bit_cast<uint64_t>(d.re)), std::bit_cast<uint64_t>(d.im));
  for (Dim x : d.dims) h = mix(h, static_cast<size_t>(x.bits()));
  if (!d.text.empty()) h = mix(h, std::hash<std::string>()(d.text));
  if (d.type) h = mix(h, d.type.hash());
  for (const Attribute& a : d.items) h = mix(h, a.hash());
  for (const std::string& n : d.names) h = mix(h, std::hash<std::string>()(n));
  if (d.dist) h = mix(h, std::hash<std::string>()(dist_text(*d.dist)));
  return h;
}

bool same(const AttrData& a, const AttrData& b) {
  auto bits = [](double v) { return std::bit_cast<uint64_t>(v); };
  return a.kind == b.kind && a.bits == b.bits && bits(a.re) == bits(b.re) && bits(a.im) == bits(b.im) &&
         a.dims == b.dims && a.text == b.text && a.type == b.type && a.items == b.items && a.names == b.names &&
         (a.dist == b.dist || (a.dist && b.dist && *a.dist == *b.dist));
}

AttrData of_kind(AttrKind kind, int64_t bits = 0) {
  AttrData d;
  d.kind = kind;
  d.bits = bits;
  return d;
}

}  // namespace

std::string_view name_of(AttrKind kind) {
  static constexpr std::string_view names[] = {
      "None",  "Bool",   "Int32", "Int64", "Float",    "Double", "Complex64", "Complex128", "String", "Symbol", "DType",
      "Place", "Layout", "Type",  "Dim",   "IntArray", "Array",  "Scalar",    "Dict",       "Dist",   "Dense"};
  return names[static_cast<size_t>(kind)];
}

Attribute Attribute::unique(AttrData data) {
  static auto* mutex = new std::mutex;
  static auto* table = new std::unordered_multimap<size_t, const AttrData*>;
  size_t h = hash_of(data);
  Attribute r;
  std::lock_guard lock(*mutex);
  auto [first, last] = table->equal_range(h);
  for (; first != last; ++first)
    if (same(*first->second, data)) {
      r.data_ = reinterpret_cast<uintptr_t>(first->second);
      return r;
    }
  const AttrData* fresh = new AttrData(std::move(data));
  table->emplace(h, fresh);
  r.data_ = reinterpret_cast<uintptr_t>(fresh);
  return r;
}

void Attribute::retain() const { counted(data_)->refs.fetch_add(1, std::memory_order_relaxed); }
void Attribute::release() const {
  if (counted(data_)->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete counted(data_);
}
bool Attribute::same_data(const Attribute& a, const Attribute& b) {
  const DenseData &x = a.as_dense(), &y = b.as_dense();
  return x.dtype == y.dtype && x.shape == y.shape && x.bytes == y.bytes;
}

size_t Attribute::hash() const {
  if (!dense()) return std::hash<uintptr_t>()(data_);
  const DenseData& d = as_dense();
  std::string_view bytes(reinterpret_cast<const char*>(d.bytes.data()), d.bytes.size());
  return mix(std::hash<std::string_view>()(bytes), static_cast<size_t>(d.dtype));
}

Attribute Attribute::boolean(bool v) {
  static const Attribute values[2] = {unique(of_kind(AttrKind::kBool, 0)), unique(of_kind(AttrKind::kBool, 1))};
  return values[v];
}
Attribute Attribute::i32(int32_t v) { return unique(of_kind(AttrKind::kInt32, v)); }
Attribute Attribute::i64(int64_t v) { return unique(of_kind(AttrKind::kInt64, v)); }
Attribute Attribute::f32(float v) {
  // The bits are kept beside the value: widening to double may quiet a signalling NaN.
  AttrData d = of_kind(AttrKind::kFloat, std::bit_cast<int32_t>(v));
  d.re = v == v ? static_cast<double>(v) : 0;
  return unique(std::move(d));
}
Attribute Attribute::f64(double v) {
  AttrData d = of_kind(AttrKind::kDouble);
  d.re = v;
  return unique(std::move(d));
}
Attribute Attribute::c64(std::complex<float> v) {
  AttrData d = of_kind(AttrKind::kComplex64);
  d.re = v.real(), d.im = v.imag();
  return unique(std::move(d));
}
Attribute Attribute::c128(std::complex<double> v) {
  AttrData d = of_kind(AttrKind::kComplex128);
  d.re = v.real(), d.im = v.imag();
  return unique(std::move(d));
}
Attribute Attribute::string(std::string_view v) {
  AttrData d = of_kind(AttrKind::kString);
  d.text = v;
  return unique(std::move(d));
}
Attribute Attribute::symbol(std::string_view v) {
  AttrData d = of_kind(AttrKind::kSymbol);
  d.text = v;
  return unique(std::move(d));
}
Attribute Attribute::dtype(DType v) { return unique(of_kind(AttrKind::kDType, static_cast<int64_t>(v))); }
Attribute Attribute::place(Place v) {
  return unique(of_kind(AttrKind::kPlace, (int64_t{v.kind} << 16) | static_cast<uint16_t>(v.index)));
}
Attribute Attribute::undefined_place() { return unique(of_kind(AttrKind::kPlace, kUndefinedPlace)); }
Attribute Attribute::layout(Layout v) { return unique(of_kind(AttrKind::kLayout, static_cast<int64_t>(v))); }
Attribute Attribute::type(Type v) {
  AttrData d = of_kind(AttrKind::kType);
  d.type = v;
  return unique(std::move(d));
}
Attribute Attribute::dim(Dim v) { return unique(of_kind(AttrKind::kDim, v.bits())); }
Attribute Attribute::ints(std::span<const Dim> v) {
  AttrData d = of_kind(AttrKind::kIntArray);
  d.dims = Shape(v);
  return unique(std::move(d));
}
Attribute Attribute::array(std::span<const Attribute> v) {
  AttrData d = of_kind(AttrKind::kArray);
  d.items.assign(v.begin(), v.end());
  return unique(std::move(d));
}

namespace {
template <class T, class F>
Attribute array_of(std::span<const T> v, F make) {
  std::vector<Attribute> items;
  items.reserve(v.size());
  for (const T& x : v) items.push_back(make(x));
  return Attribute::array(items);
}
}  // namespace

Attribute Attribute::bools(std::span<const bool> v) { return array_of(v, &Attribute::boolean); }
Attribute Attribute::i32s(std::span<const int64_t> v) {
  return array_of(v, [](int64_t x) {
    check(x >= INT32_MIN && x <= INT32_MAX, ErrorKind::kValue, "expected a 32-bit integer, got {}", x);
    return i32(static_cast<int32_t>(x));
  });
}
Attribute Attribute::i64s(std::span<const int64_t> v) { return array_of(v, &Attribute::i64); }
Attribute Attribute::f32s(std::span<const double> v) {
  return array_of(v, [](double x) { return f32(static_cast<float>(x)); });
}
Attribute Attribute::f64s(std::span<const double> v) { return array_of(v, &Attribute::f64); }
Attribute Attribute::strings(std::span<const std::string> v) { return array_of(v, &Attribute::string); }

Attribute Attribute::scalar(Attribute number) {
  AttrKind k = number.kind();
  PD_INVARIANT((k >= AttrKind::kBool && k <= AttrKind::kComplex128) || k == AttrKind::kDim);
  AttrData d = of_kind(AttrKind::kScalar);
  d.items = {std::move(number)};
  return unique(std::move(d));
}

Attribute Attribute::dict(std::span<const NamedAttr> v) {
  AttrMap sorted{NamedAttrs(v.begin(), v.end())};
  AttrData d = of_kind(AttrKind::kDict);
  for (const NamedAttr& a : sorted) {
    d.names.emplace_back(a.name.str());
    d.items.push_back(a.value);
  }
  return unique(std::move(d));
}

Attribute Attribute::dist(const spmd::DistAttr& v) {
  AttrData d = of_kind(AttrKind::kDist);
  d.dist = std::make_shared<const spmd::DistAttr>(v);
  return unique(std::move(d));
}

Attribute Attribute::dense(DenseData v) {
  size_t n = size_of(v.dtype);
  for (int64_t s : v.shape) {
    PD_INVARIANT(s >= 0);
    n *= static_cast<size_t>(s);
  }
  PD_INVARIANT(v.bytes.size() == n);
  auto* c = new CountedDense;
  c->data = std::move(v);
  Attribute r;
  r.data_ = reinterpret_cast<uintptr_t>(c) | 1;
  return r;
}

const AttrData& Attribute::expect(AttrKind expected) const {
  if (kind() != expected)
    throw InternalError(
        fmt::format("expected an attribute of kind {}, got {} ({})", name_of(expected), name_of(kind()), str()));
  return *node();
}

bool Attribute::as_bool() const { return expect(AttrKind::kBool).bits != 0; }

int64_t Attribute::as_int() const {
  switch (kind()) {
    case AttrKind::kBool:
    case AttrKind::kInt32:
    case AttrKind::kInt64:
      return node()->bits;
    case AttrKind::kDim:
      return as_dim().value();
    case AttrKind::kScalar:
      return inner().as_int();
    default:
      return expect(AttrKind::kInt64).bits;
  }
}

double Attribute::as_double() const {
  switch (kind()) {
    case AttrKind::kFloat:
      return static_cast<double>(std::bit_cast<float>(static_cast<int32_t>(node()->bits)));
    case AttrKind::kDouble:
      return node()->re;
    case AttrKind::kScalar:
      return inner().as_double();
    default:
      return static_cast<double>(as_int());
  }
}

std::complex<double> Attribute::as_complex() const {
  if (kind() == AttrKind::kComplex64 || kind() == AttrKind::kComplex128) return {node()->re, node()->im};
  if (kind() == AttrKind::kScalar) return inner().as_complex();
  return as_double();
}

const std::string& Attribute::as_string() const {
  return kind() == AttrKind::kSymbol ? node()->text : expect(AttrKind::kString).text;
}
DType Attribute::as_dtype() const { return static_cast<DType>(expect(AttrKind::kDType).bits); }
bool Attribute::place_undefined() const { return expect(AttrKind::kPlace).bits == kUndefinedPlace; }
Place Attribute::as_place() const {
  int64_t bits = expect(AttrKind::kPlace).bits;
  if (bits == kUndefinedPlace) return Place::cpu();
  return Place{static_cast<uint8_t>(bits >> 16), static_cast<int16_t>(bits & 0xffff)};
}
Layout Attribute::as_layout() const { return static_cast<Layout>(expect(AttrKind::kLayout).bits); }
Type Attribute::as_type() const { return expect(AttrKind::kType).type; }
Dim Attribute::as_dim() const { return kind() == AttrKind::kDim ? Dim::from_bits(node()->bits) : Dim(as_int()); }

Shape Attribute::as_ints() const {
  if (kind() == AttrKind::kIntArray) return node()->dims;
  Shape r;
  for (const Attribute& a : items()) r.push_back(a.as_dim());
  return r;
}

std::span<const Attribute> Attribute::items() const { return expect(AttrKind::kArray).items; }
Attribute Attribute::inner() const { return expect(AttrKind::kScalar).items[0]; }
std::span<const std::string> Attribute::keys() const { return expect(AttrKind::kDict).names; }
std::span<const Attribute> Attribute::values() const { return expect(AttrKind::kDict).items; }
const spmd::DistAttr& Attribute::as_dist() const { return *expect(AttrKind::kDist).dist; }
const DenseData& Attribute::as_dense() const {
  if (!dense()) expect(AttrKind::kDense);
  return counted(data_)->data;
}

namespace {

std::string list_text(std::span<const Attribute> items) {
  std::string s = "[";
  for (size_t i = 0; i < items.size(); ++i) s += (i ? ", " : "") + items[i].str();
  return s + "]";
}

std::string dense_text(const DenseData& d) {
  std::string s = "dense<" + Type::tensor(d.dtype, Shape(d.shape.begin(), d.shape.end())).str() + ", 0x";
  static constexpr char digits[] = "0123456789abcdef";
  s.reserve(s.size() + 2 * d.bytes.size() + 1);
  for (std::byte b : d.bytes) {
    s += digits[static_cast<unsigned>(b) >> 4];
    s += digits[static_cast<unsigned>(b) & 15];
  }
  return s + ">";
}

// Bare numbers and sizes in brackets are an IntArray, unless the parser would take the first word for something else.
std::string ints_text(const Shape& dims) {
  std::string s = to_string(view(dims));
  bool plain = !dims.empty();
  for (Dim d : dims) {
    std::string text = d.is_symbolic() ? d.str() : std::string();
    size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (is_reserved(text.substr(0, end)) || text.starts_with("(")) plain = false;
  }
  return plain ? s : "(IntArray)" + s;
}

std::string complex_text(const AttrData& d, bool single) {
  auto part = [&](double v) { return single ? float_text(static_cast<float>(v)) : float_text(v); };
  return fmt::format("(Complex{})({}, {})", single ? 64 : 128, part(d.re), part(d.im));
}

}  // namespace

std::string Attribute::str() const {
  if (kind() == AttrKind::kNone) return "None";
  if (dense()) return dense_text(as_dense());
  const AttrData& d = *node();
  switch (d.kind) {
    case AttrKind::kBool:
      return d.bits ? "true" : "false";
    case AttrKind::kInt32:
      return fmt::format("(Int32){}", d.bits);
    case AttrKind::kInt64:
      return fmt::format("(Int64){}", d.bits);
    case AttrKind::kFloat:
      return "(Float)" + float_text(std::bit_cast<float>(static_cast<int32_t>(d.bits)));
    case AttrKind::kDouble:
      return "(Double)" + float_text(d.re);
    case AttrKind::kComplex64:
      return complex_text(d, true);
    case AttrKind::kComplex128:
      return complex_text(d, false);
    case AttrKind::kString:
      return quote(d.text);
    case AttrKind::kSymbol:
      return "@" + quote(d.text);
    case AttrKind::kDType:
      return d.bits == 0 ? "Undefined" : std::string(name_of(as_dtype()));
    case AttrKind::kPlace:
      return d.bits == kUndefinedPlace ? "Place(undefined:0)" : "Place(" + to_string(as_place()) + ")";
    case AttrKind::kLayout:
      return fmt::format("Layout({})", quote(name_of(as_layout())));
    case AttrKind::kType:
      return d.type.str();
    case AttrKind::kDim:
      return "(Dim)" + as_dim().str();
    case AttrKind::kIntArray:
      return ints_text(d.dims);
    case AttrKind::kArray:
      return list_text(d.items);
    case AttrKind::kScalar:
      return "(Scalar)" + d.items[0].str();
    case AttrKind::kDict: {
      std::string s = "{";
      for (size_t i = 0; i < d.items.size(); ++i) s += (i ? ", " : "") + quote(d.names[i]) + ": " + d.items[i].str();
      return s + "}";
    }
    case AttrKind::kDist:
      return "dist" + dist_text(*d.dist);
    case AttrKind::kNone:
    case AttrKind::kDense:
      break;
  }
  return "None";
}

}  // namespace paddle::pir
