// How generated code (phi/rules_<family>.h) reads the arguments of a call.
#pragma once
#include "api/op_call.h"

namespace paddle::rules {

inline const Scalar& scalar_of(const Arg& a) {
  static const Scalar zero;
  return a.none() ? zero : a.scalar();
}
inline const Ints& ints_of(const Arg& a) {
  static const Ints empty;
  return a.none() ? empty : a.ints();
}
inline std::optional<int64_t> opt_int(const Arg& a) { return a.none() ? std::nullopt : std::optional(a.i()); }
inline std::optional<double> opt_float(const Arg& a) { return a.none() ? std::nullopt : std::optional(a.d()); }
inline std::optional<bool> opt_bool(const Arg& a) { return a.none() ? std::nullopt : std::optional(a.b()); }
inline std::optional<DType> opt_dtype(const Arg& a) { return a.none() ? std::nullopt : std::optional(a.dtype()); }
inline std::optional<Place> opt_place(const Arg& a) { return a.none() ? std::nullopt : std::optional(a.place()); }

// Saved as metadata only: dtype kUndefined where the tensor was absent.
inline TensorMeta meta_of(const Tensor& t) { return t.defined() ? TensorMeta{t.dtype(), t.shape()} : TensorMeta{}; }
inline TensorMeta meta_of(const Arg& a) { return meta_of(a.tensor()); }
inline std::vector<TensorMeta> metas_of(const Arg& a) {
  std::vector<TensorMeta> out;
  for (const Tensor& t : a.tensors()) out.push_back(meta_of(t));
  return out;
}

}  // namespace paddle::rules
