// Attributes: the compile-time constants of an operation. An Attribute is one pointer to an immutable description.
// All kinds but kDense are uniqued (equal means same pointer) and live as long as the process; kDense holds tensor
// data, is counted, and compares by content.
#pragma once
#include <complex>
#include <span>
#include <string>
#include <vector>

#include "device/place.h"
#include "pir/type.h"
#include "tensor/dim.h"
#include "tensor/dtype.h"

namespace paddle::pir {

enum class AttrKind : uint8_t {
  kNone,  // the null attribute: an optional that is absent
  kBool,
  kInt32,
  kInt64,
  kFloat,
  kDouble,
  kComplex64,
  kComplex128,
  kString,
  kSymbol,
  kDType,
  kPlace,
  kLayout,
  kType,
  kDim,       // one extent, perhaps symbolic
  kIntArray,  // extents: shapes, axes, paddings; items may be symbolic
  kArray,     // list of attributes
  kScalar,    // a number that knows its dtype: wraps one numeric attribute
  kDict,      // name -> attribute
  kDist,      // mesh and placements
  kDense,     // tensor data
};
std::string_view name_of(AttrKind kind);  // "Bool", "Int32", ...

struct DenseData {
  DType dtype = DType::kUndefined;
  Sizes shape;
  std::vector<std::byte> bytes;  // row-major
};

class Attribute;
struct NamedAttr;
struct AttrData {
  AttrKind kind = AttrKind::kNone;
  int64_t bits = 0;  // kBool, kInt32, kInt64, kDType, kPlace, kLayout, kDim
  double re = 0, im = 0;
  Shape dims;                    // kIntArray
  std::string text;              // kString, kSymbol; kDict: its keys are in names
  Type type;                     // kType
  std::vector<Attribute> items;  // kArray, kScalar (one), kDict (values)
  std::vector<std::string> names;
  std::shared_ptr<const spmd::DistAttr> dist;
};
struct CountedDense;

class Attribute {
 public:
  constexpr Attribute() = default;
  Attribute(const Attribute& o) : data_(o.data_) {
    if (dense()) retain();
  }
  Attribute(Attribute&& o) noexcept : data_(o.data_) { o.data_ = 0; }
  Attribute& operator=(Attribute o) noexcept {
    std::swap(data_, o.data_);
    return *this;
  }
  ~Attribute() {
    if (dense()) release();
  }

  static Attribute boolean(bool v);
  static Attribute i32(int32_t v);
  static Attribute i64(int64_t v);
  static Attribute f32(float v);
  static Attribute f64(double v);
  static Attribute c64(std::complex<float> v);
  static Attribute c128(std::complex<double> v);
  static Attribute string(std::string_view v);
  static Attribute symbol(std::string_view v);
  static Attribute dtype(DType v);
  static Attribute place(Place v);
  static Attribute undefined_place();  // Paddle's "wherever": printed Place(undefined:0)
  static Attribute layout(Layout v);
  static Attribute type(Type v);
  static Attribute dim(Dim v);
  static Attribute ints(std::span<const Dim> v);
  static Attribute ints(std::initializer_list<Dim> v) { return ints(std::span<const Dim>(v.begin(), v.size())); }
  static Attribute array(std::span<const Attribute> v);
  static Attribute array(std::initializer_list<Attribute> v) {
    return array(std::span<const Attribute>(v.begin(), v.size()));
  }
  static Attribute bools(std::span<const bool> v);
  static Attribute i32s(std::span<const int64_t> v);  // kArray of kInt32; ValueError if one doesn't fit
  static Attribute i64s(std::span<const int64_t> v);
  static Attribute f32s(std::span<const double> v);
  static Attribute f64s(std::span<const double> v);
  static Attribute strings(std::span<const std::string> v);
  static Attribute scalar(Attribute number);  // kBool, kInt*, kFloat, kDouble, kComplex*, kDim
  static Attribute dict(std::span<const NamedAttr> v);
  static Attribute dist(const spmd::DistAttr& v);
  static Attribute dense(DenseData v);  // InternalError if the bytes don't fit dtype and shape

  explicit operator bool() const { return data_ != 0; }
  AttrKind kind() const { return data_ == 0 ? AttrKind::kNone : dense() ? AttrKind::kDense : node()->kind; }
  friend bool operator==(const Attribute& a, const Attribute& b) {
    return a.data_ == b.data_ || (a.dense() && b.dense() && same_data(a, b));
  }
  size_t hash() const;  // stable only within a process; see hash.h for one that is stable across processes

  // Each throws an InternalError that names both kinds if the attribute is of another kind.
  bool as_bool() const;
  int64_t as_int() const;    // kInt32, kInt64, kBool, or a constant kDim; also of a kScalar that wraps one
  double as_double() const;  // any real number
  std::complex<double> as_complex() const;
  const std::string& as_string() const;  // kString, kSymbol
  DType as_dtype() const;
  Place as_place() const;  // an undefined place reads as the CPU
  bool place_undefined() const;
  Layout as_layout() const;
  Type as_type() const;
  Dim as_dim() const;                         // kDim or an integer
  Shape as_ints() const;                      // kIntArray, or a kArray of integers
  std::span<const Attribute> items() const;   // kArray
  Attribute inner() const;                    // kScalar
  std::span<const std::string> keys() const;  // kDict, in order
  std::span<const Attribute> values() const;  // kDict
  const spmd::DistAttr& as_dist() const;
  const DenseData& as_dense() const;

  std::string str() const;  // as the printer writes it

 private:
  bool dense() const { return data_ & 1; }
  const AttrData* node() const { return reinterpret_cast<const AttrData*>(data_); }
  const AttrData& expect(AttrKind kind) const;
  void retain() const;
  void release() const;
  static bool same_data(const Attribute& a, const Attribute& b);
  static Attribute unique(AttrData data);
  uintptr_t data_ = 0;  // the low bit marks counted dense data
};

// A name and its attribute. Names are interned: comparing them is comparing pointers.
class Name {
 public:
  Name() = default;
  Name(std::string_view text);
  Name(const char* text) : Name(std::string_view(text)) {}
  Name(const std::string& text) : Name(std::string_view(text)) {}
  std::string_view str() const { return text_ ? std::string_view(*text_) : std::string_view(); }
  friend bool operator==(Name a, Name b) { return a.text_ == b.text_; }

 private:
  const std::string* text_ = nullptr;
};

struct NamedAttr {
  Name name;
  Attribute value;
};
using NamedAttrs = std::vector<NamedAttr>;

// A small map from name to attribute, kept in alphabetical order so that printing is deterministic.
class AttrMap {
 public:
  AttrMap() = default;
  AttrMap(std::initializer_list<NamedAttr> items) : AttrMap(NamedAttrs(items)) {}
  explicit AttrMap(NamedAttrs items);
  const Attribute* find(std::string_view name) const;
  Attribute get(std::string_view name) const;  // null if absent
  bool has(std::string_view name) const { return find(name) != nullptr; }
  void set(Name name, Attribute value);
  bool erase(std::string_view name);
  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  bool operator==(const AttrMap& o) const;

 private:
  NamedAttrs items_;
};

}  // namespace paddle::pir
