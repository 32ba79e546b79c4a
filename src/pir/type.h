// Types of values. A Type is one pointer to an immutable, uniqued description: equal types are the same pointer.
// Types live as long as the process; a program has few distinct ones.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tensor/dim.h"
#include "tensor/dtype.h"

namespace paddle::spmd {
struct DistAttr;
}

namespace paddle::pir {

enum class TypeKind : uint8_t {
  kNone,          // no type: an absent optional value
  kTensor,        // dense tensor: dtype, shape, layout
  kSelectedRows,  // sparse rows, same fields
  kSparseCoo,
  kSparseCsr,
  kTensorArray,  // list of tensors of one dtype that grows at run time
  kVector,       // fixed list of values: what builtin.combine makes
  kDist,         // a dense tensor spread over a mesh
  kScalar,       // a bare number of a dtype
  kStack,
  kInlet,
  kOutlet,  // what cf.stack_create makes: values kept by a loop for its backward
};

enum class Layout : uint8_t { kNCHW, kNHWC, kNCDHW, kNDHWC, kAny, kOneDNN, kSparseCoo, kSparseCsr, kCount };
std::string_view name_of(Layout layout);                // as in Paddle's files: "NCHW", "Undefined(AnyLayout)", ...
bool layout_from_name(std::string_view name, Layout*);  // false if unknown

class Type;
struct TypeData {
  TypeKind kind = TypeKind::kNone;
  DType dtype = DType::kUndefined;
  Layout layout = Layout::kNCHW;
  Shape shape;                 // kDist: the global shape
  std::vector<Type> elements;  // kVector: the items; kDist: the local dense type
  std::shared_ptr<const spmd::DistAttr> dist;
};

class Type {
 public:
  constexpr Type() = default;
  static Type tensor(DType dtype, const Shape& shape, Layout layout = Layout::kNCHW);
  // kSelectedRows, kSparseCoo, kSparseCsr or kTensorArray: tensors of another storage, with the fields of a dense one.
  static Type tensor_like(TypeKind kind, DType dtype, const Shape& shape, Layout layout = Layout::kNCHW);
  static Type vector(std::span<const Type> elements);
  static Type scalar(DType dtype);
  static Type marker(TypeKind kind);  // kStack, kInlet, kOutlet
  // The local shape is what the largest shard has: every sharded dimension divided, rounding up.
  static Type dist(Type global, const spmd::DistAttr& attr);
  static Type dist(Type global, const spmd::DistAttr& attr, const Shape& local);

  explicit operator bool() const { return data_ != nullptr; }
  friend bool operator==(Type a, Type b) { return a.data_ == b.data_; }
  size_t hash() const { return std::hash<const void*>()(data_); }
  TypeKind kind() const { return data_ ? data_->kind : TypeKind::kNone; }

  bool is_tensor() const { return kind() == TypeKind::kTensor; }
  bool is_dist() const { return kind() == TypeKind::kDist; }
  bool is_vector() const { return kind() == TypeKind::kVector; }
  // Dense, dist, selected rows, sparse: it has a dtype and a shape.
  bool has_shape() const { return kind() >= TypeKind::kTensor && kind() <= TypeKind::kDist && !is_vector(); }

  // InternalError for a type that has none.
  DType dtype() const;
  const Shape& shape() const;  // the global one of a dist type
  int64_t rank() const { return static_cast<int64_t>(shape().size()); }
  Layout layout() const;
  std::span<const Type> elements() const;  // of a vector
  Type local() const;                      // kDist: the dense type of one rank's part; others: themselves
  Type global() const;                     // kDist: the dense type of the whole; others: themselves
  const spmd::DistAttr& dist_attr() const;

  // The same kind of type with another shape or dtype (dense and alike only).
  Type with_shape(const Shape& shape) const;
  Type with_dtype(DType dtype) const;

  std::string str() const;  // tensor<3xS0xf32>, vec[tensor<f32>, tensor<2xi64>], dist_tensor<...>
  const TypeData* data() const { return data_; }

 private:
  friend class TypeTable;
  constexpr explicit Type(const TypeData* data) : data_(data) {}
  const TypeData* data_ = nullptr;
};

// "f32", "i64", "b", ...: how tensor types spell a dtype.
std::string_view short_name_of(DType dtype);
DType dtype_from_short_name(std::string_view name);  // kUndefined if unknown

// For the program's symbols: applies `to` to every dimension inside a type.
Type map_dims(Type type, const std::function<Dim(Dim)>& to);

}  // namespace paddle::pir
