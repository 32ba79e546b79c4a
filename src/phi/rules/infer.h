// Shape and dtype inference: the templates that records name in `shape:` and `dtype:`, and what rules written in C++
// share. All over Dim: in eager the sizes are numbers, under trace expressions, and a question about a size
// (paddle::equal, less) leaves a guard.
//
// Errors name the operator, what was expected and what was got: "[softmax] expected axis in [-2, 2), got 5".
#pragma once
#include <initializer_list>
#include <optional>
#include <string_view>

#include "api/op_call.h"

namespace paddle::infer {

// -- dtypes. A mask has bit static_cast<int>(dtype) for each accepted type.
[[noreturn]] void bad_dtype(std::string_view op, std::string_view name, DType got, uint32_t mask);
[[noreturn]] void absent(std::string_view op, std::string_view name);
inline void present(std::string_view op, std::string_view name, const Tensor& t) {
  if (!t.defined()) [[unlikely]]
    absent(op, name);
}
inline void check_dtype(std::string_view op, std::string_view name, const Tensor& t, uint32_t mask) {
  if (t.defined() && !(mask >> static_cast<int>(t.dtype()) & 1)) [[unlikely]]
    bad_dtype(op, name, t.dtype(), mask);
}
void check_dtypes(std::string_view op, std::string_view name, std::span<const Tensor> t, uint32_t mask);
void unlike(std::string_view op, std::string_view name, DType got, std::string_view first, DType expected);
inline void check_alike(std::string_view op, std::string_view name, const Tensor& t, std::string_view first,
                        const Tensor& f) {
  if (t.defined() && f.defined() && t.dtype() != f.dtype()) [[unlikely]]
    unlike(op, name, t.dtype(), first, f.dtype());
}
void check_alike(std::string_view op, std::string_view name, std::span<const Tensor> t, std::string_view first,
                 const Tensor& f);
inline DType dtype_of(const Tensor& t) { return t.defined() ? t.dtype() : DType::kUndefined; }
inline DType dtype_of(std::span<const Tensor> t) { return t.empty() ? DType::kUndefined : dtype_of(t[0]); }
inline DType dtype_of(DType t) { return t; }
inline DType dtype_of(std::optional<DType> t) { return t.value_or(DType::kUndefined); }
DType first_of(std::initializer_list<DType> types);     // the first that isn't kUndefined
DType promote_all(std::initializer_list<DType> types);  // the common type
DType widen(DType t);                                   // bool and int32: int64, as official Paddle sums
DType wide_inexact(DType t);                            // bool and integers: float64
DType inexact(DType t);                                 // bool and integers: the default dtype
DType default_float();                                  // paddle.get_default_dtype()
DType index_dtype(std::string_view op, std::string_view name, DType t);  // itself; TypeError unless int32 or int64
DType scalar_dtype(const Scalar& s);  // of a number as a tensor: bool, int64, default float

// -- axes and sizes
// axis counted from 0; ValueError outside [-rank, rank). A 0-d tensor is taken as [1] (axis 0 or -1).
int64_t axis_of(std::string_view op, int64_t axis, int64_t rank, std::string_view name = "axis");
// The same for several; empty means all where `empty_is_all`. Repetitions raise ValueError. In the order given.
Sizes axes_of(std::string_view op, std::span<const int64_t> axes, int64_t rank, bool empty_is_all,
              std::string_view name = "axis");
// A list argument as sizes: tensors are read where they are concrete; a traced one yields fresh symbols.
Shape dims_of(std::string_view op, const Ints& v);
// The same where the values must be numbers now (axes).
Sizes numbers_of(std::string_view op, const Ints& v, std::string_view name = "axis");
int64_t number_of(std::string_view op, const Scalar& v, std::string_view name = "axis");
Shape broadcast_shapes(std::string_view op, std::span<const Dim> a, std::span<const Dim> b);
// A number that is to be part of a size. ValueError beyond 2^40 either way: what is computed with it must not overflow.
int64_t extent_of(std::string_view op, std::string_view name, int64_t v);
// May the sizes be taken to be equal? Sizes that nothing is known about are trusted.
inline bool agree(Dim a, Dim b) { return a == b || !has_hint(a) || !has_hint(b) || paddle::equal(a, b); }
// ValueError "[op] expected <what> of size a, got b" unless the sizes are equal.
void check_size(std::string_view op, std::string_view what, Dim expected, Dim got);
void check_rank(std::string_view op, std::string_view name, const Tensor& t, int64_t low, int64_t high = -1);

// -- what generated code calls
inline void set_shape(TensorMeta& m, Shape s) { m.shape = std::move(s); }
void set_shape(std::vector<TensorMeta>& m, std::vector<Shape> shapes);
inline void set_dtypes(std::vector<TensorMeta>& metas, DType t) {
  for (TensorMeta& m : metas) m.dtype = t;
}

// -- templates for `shape:`; opgen finds them here, by `std::string_view op`
inline Shape same_as(std::string_view op, const Tensor& x) { return x.shape(); }
inline Shape scalar(std::string_view op) { return {}; }
// [n] for a number n
inline Shape vector(std::string_view op, int64_t n) { return {Dim(extent_of(op, "a size", n))}; }
// the sizes in the argument, which must not be negative
Shape from_arg(std::string_view op, const Ints& shape);
Shape broadcast(std::string_view op, const Tensor& x, const Tensor& y);
Shape broadcast(std::string_view op, const Tensor& x, const Tensor& y, const Tensor& z);
// axes removed, or kept as 1; an empty axis or reduce_all means all axes
Shape reduce(std::string_view op, const Tensor& x, const Ints& axis, bool keepdim, bool reduce_all = false);
Shape reduce(std::string_view op, const Tensor& x, std::span<const int64_t> axis, bool keepdim,
             bool reduce_all = false);
Shape reduce(std::string_view op, const Tensor& x, int64_t axis, bool keepdim, bool reduce_all = false);
Shape reduce(std::string_view op, const Tensor& x, std::optional<int64_t> axis, bool keepdim, bool reduce_all = false);
Shape reduce(std::string_view op, const Tensor& x, const Scalar& axis, bool keepdim, bool reduce_all = false);
// x's shape, having checked that t has the same (a name before each tensor)
Shape same_shape(std::string_view op, std::string_view name, const Tensor& t, std::string_view first, const Tensor& x);
// x's own shape, having checked that axis is one of its axes
Shape along(std::string_view op, const Tensor& x, int64_t axis);
// x and its gradient y, of one shape, after checking axis
Shape alike(std::string_view op, const Tensor& x, const Tensor& y, int64_t axis);
Shape along(std::string_view op, const Tensor& x, const Scalar& axis);

}  // namespace paddle::infer
