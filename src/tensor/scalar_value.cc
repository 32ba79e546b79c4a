#include "tensor/scalar_value.h"

#include <fmt/core.h>

#include "base/error.h"
#include "tensor/element.h"

namespace paddle {

namespace {
const Tensor& one_element(const Tensor& t) {
  check(t.numel() == 1, ErrorKind::kValue, "expected a tensor of one element as a number, got shape {}",
        to_string(t.shape()));
  return t;
}
}  // namespace

double Scalar::to_double() const {
  switch (kind_) {
    case Kind::kBool:
    case Kind::kInt:
      return static_cast<double>(int_);
    case Kind::kFloat:
    case Kind::kComplex:
      return real_;
    case Kind::kDim:
      return static_cast<double>(dim().value());
    case Kind::kTensor:
      return read_element(one_element(tensor_), 0).real();
  }
  return 0;
}

int64_t Scalar::to_int() const {
  switch (kind_) {
    case Kind::kBool:
    case Kind::kInt:
      return int_;
    case Kind::kFloat:
    case Kind::kComplex:
      check(real_ >= -0x1p63 && real_ < 0x1p63, ErrorKind::kValue,
            "expected a number that fits 64 bits as an integer, got {}", real_);
      return static_cast<int64_t>(real_);
    case Kind::kDim:
      return dim().value();
    case Kind::kTensor:
      return read_int(one_element(tensor_), 0);
  }
  return 0;
}

bool Scalar::to_bool() const {
  if (kind_ == Kind::kTensor) return read_element(one_element(tensor_), 0) != 0.0;
  return kind_ >= Kind::kFloat && kind_ <= Kind::kComplex ? (real_ != 0 || imag_ != 0) : int_ != 0;
}

std::complex<double> Scalar::to_complex() const {
  if (kind_ == Kind::kTensor) return read_element(one_element(tensor_), 0);
  if (kind_ == Kind::kComplex) return {real_, imag_};
  return {to_double(), 0};
}

DType Scalar::natural_dtype() const {
  switch (kind_) {
    case Kind::kBool:
      return DType::kBool;
    case Kind::kInt:
    case Kind::kDim:
      return DType::kInt64;
    case Kind::kFloat:
      return DType::kFloat64;
    case Kind::kComplex:
      return DType::kComplex128;
    case Kind::kTensor:
      return tensor_.dtype();
  }
  return DType::kUndefined;
}

std::string Scalar::str() const {
  switch (kind_) {
    case Kind::kBool:
      return int_ ? "True" : "False";
    case Kind::kInt:
      return fmt::format("{}", int_);
    case Kind::kFloat:
      return fmt::format("{}", real_);
    case Kind::kComplex:
      return fmt::format("({}+{}j)", real_, imag_);
    case Kind::kDim:
      return dim().str();
    case Kind::kTensor:
      return "Tensor";
  }
  return {};
}

std::vector<int64_t> Ints::to_ints() const {
  Ints r = resolved() ? *this : read();
  std::vector<int64_t> out;
  for (Dim d : r.values()) out.push_back(d.value());
  return out;
}

Ints Ints::read() const {
  if (whole_.defined()) {
    check(whole_.rank() <= 1 && is_integer(whole_.dtype()), ErrorKind::kType,
          "expected a 1-D integer tensor as a list of integers, got {} with shape {}", name_of(whole_.dtype()),
          to_string(whole_.shape()));
    Shape values;
    for (int64_t i = 0, n = whole_.numel(); i < n; ++i) values.push_back(Dim(read_int(whole_, i)));
    return Ints(values);
  }
  Shape values = values_;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (!tensors_[i].defined()) continue;
    check(tensors_[i].numel() == 1 && is_integer(tensors_[i].dtype()), ErrorKind::kType,
          "expected integer tensors of one element in a list of integers, got {} with shape {}",
          name_of(tensors_[i].dtype()), to_string(tensors_[i].shape()));
    values[i] = Dim(read_int(tensors_[i], 0));
  }
  return Ints(values);
}

std::string Ints::str() const {
  if (whole_.defined()) return "Tensor";
  std::string s = "[";
  for (size_t i = 0; i < values_.size(); ++i) {
    if (i) s += ", ";
    s += i < tensors_.size() && tensors_[i].defined() ? "Tensor" : values_[i].str();
  }
  return s + "]";
}

}  // namespace paddle
