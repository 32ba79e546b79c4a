// Arguments that are constants or tensors: a Scalar is one number, an Ints a list of integers. Either may be a
// constant, a symbolic extent, or come from a tensor. They are normalised once, at the entry point of an operator.
#pragma once
#include <complex>

#include "tensor/tensor.h"

namespace paddle {

class Scalar {
 public:
  enum class Kind : uint8_t { kBool, kInt, kFloat, kComplex, kDim, kTensor };
  Scalar() = default;
  Scalar(bool v) : kind_(Kind::kBool), int_(v) {}
  Scalar(int v) : kind_(Kind::kInt), int_(v) {}
  Scalar(int64_t v) : kind_(Kind::kInt), int_(v) {}
  Scalar(double v) : kind_(Kind::kFloat), real_(v) {}
  Scalar(std::complex<double> v) : kind_(Kind::kComplex), real_(v.real()), imag_(v.imag()) {}
  Scalar(Dim d) : kind_(d.is_const() ? Kind::kInt : Kind::kDim), int_(d.bits()) {}
  explicit Scalar(Tensor t) : kind_(Kind::kTensor), tensor_(std::move(t)) {}

  Kind kind() const { return kind_; }
  bool is_const() const { return kind_ <= Kind::kComplex; }
  const Tensor& tensor() const { return tensor_; }
  Dim dim() const { return kind_ == Kind::kDim ? Dim::from_bits(int_) : Dim(int_); }
  // The constant converted; a concrete tensor is read, a traced one is an InternalError (dispatch has made it an
  // operand).
  double to_double() const;
  int64_t to_int() const;
  bool to_bool() const;
  std::complex<double> to_complex() const;
  DType natural_dtype() const;  // bool, int64, float64 (a weak type in promotion), complex128, or the tensor's
  std::string str() const;

 private:
  Kind kind_ = Kind::kInt;
  int64_t int_ = 0;
  double real_ = 0, imag_ = 0;
  Tensor tensor_;
};

class Ints {
 public:
  Ints() = default;
  Ints(std::initializer_list<int64_t> v) : values_(v.begin(), v.end()) {}
  Ints(std::span<const Dim> v) : values_(v) {}
  Ints(const Shape& v) : values_(v) {}
  explicit Ints(std::span<const int64_t> v) : values_(v.begin(), v.end()) {}
  explicit Ints(Tensor whole) : whole_(std::move(whole)) {}
  // A list that mixes constants and 0-d/1-element tensors: item i comes from tensors[i] where that is defined.
  Ints(std::span<const Dim> v, Tensors tensors) : values_(v), tensors_(std::move(tensors)) {}

  // No tensors left: only constants and symbolic extents.
  bool resolved() const { return !whole_.defined() && tensors_.empty(); }
  const Shape& values() const { return values_; }  // meaningful where resolved()
  size_t size() const { return values_.size(); }
  Dim operator[](size_t i) const { return values_[i]; }
  const Tensor& whole() const { return whole_; }
  const Tensors& tensors() const { return tensors_; }
  std::vector<int64_t> to_ints() const;  // reads concrete tensors; InternalError for symbolic or traced items
  Ints read() const;                     // the resolved form: concrete tensors read to constants
  std::string str() const;

 private:
  Shape values_;
  Tensors tensors_;
  Tensor whole_;
};

}  // namespace paddle
