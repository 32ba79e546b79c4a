#include "tensor/element.h"

#include <cstring>

#include "base/error.h"
#include "device/registry.h"
#include "tensor/float16.h"

namespace paddle {

Tensor (*whole_of_dist)(const Tensor& t) = nullptr;

namespace {

template <class T>
T load(const void* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// The bytes of element `index`, wherever it is.
void fetch(const Tensor& t, int64_t index, void* out) {
  if (t.is_dist() && whole_of_dist) return fetch(whole_of_dist(t), index, out);
  check(t.is_dense(), ErrorKind::kRuntime,
        "a tensor's value is needed here, but it is not known while a program is captured");
  int64_t at = 0;
  const Shape& s = t.shape();
  for (size_t i = s.size(); i-- > 0;) {
    int64_t d = s[i].value();
    at += index % d * t.strides()[i];
    index /= d;
  }
  size_t size = size_of(t.dtype());
  const char* p = static_cast<const char*>(t.data()) + at * static_cast<int64_t>(size);
  device::copy(out, Place::cpu(), p, t.place(), size);
}

}  // namespace

std::complex<double> read_element(const Tensor& t, int64_t index) {
  char b[16];
  fetch(t, index, b);
  switch (t.dtype()) {
    case DType::kBool:
      return double(load<uint8_t>(b) != 0);
    case DType::kUInt8:
      return load<uint8_t>(b);
    case DType::kInt8:
      return load<int8_t>(b);
    case DType::kInt16:
      return load<int16_t>(b);
    case DType::kUInt16:
      return load<uint16_t>(b);
    case DType::kInt32:
      return load<int32_t>(b);
    case DType::kUInt32:
      return load<uint32_t>(b);
    case DType::kInt64:
      return double(load<int64_t>(b));
    case DType::kUInt64:
      return double(load<uint64_t>(b));
    case DType::kFloat16:
      return f16_to_f32(load<uint16_t>(b));
    case DType::kBFloat16:
      return bf16_to_f32(load<uint16_t>(b));
    case DType::kFloat8E4M3FN:
      return f8e4m3_to_f32(load<uint8_t>(b));
    case DType::kFloat8E5M2:
      return f8e5m2_to_f32(load<uint8_t>(b));
    case DType::kFloat32:
      return load<float>(b);
    case DType::kFloat64:
      return load<double>(b);
    case DType::kComplex64:
      return load<std::complex<float>>(b);
    case DType::kComplex128:
      return load<std::complex<double>>(b);
    default:
      PD_INVARIANT(!"dtype");
      return 0;
  }
}

int64_t read_int(const Tensor& t, int64_t index) {
  char b[16];
  if (t.dtype() == DType::kInt64) {
    fetch(t, index, b);
    return load<int64_t>(b);
  }
  if (t.dtype() == DType::kUInt64) {
    fetch(t, index, b);
    return static_cast<int64_t>(load<uint64_t>(b));
  }
  return static_cast<int64_t>(read_element(t, index).real());
}

void write_int(void* p, DType dtype, int64_t v) {
  if (dtype == DType::kInt64 || dtype == DType::kUInt64) {
    std::memcpy(p, &v, 8);
  } else {
    write_element(p, dtype, static_cast<double>(v));
  }
}

void write_element(void* p, DType dtype, std::complex<double> value) {
  double v = value.real();
  auto put = [p](auto x) { std::memcpy(p, &x, sizeof x); };
  switch (dtype) {
    case DType::kBool:
      return put(static_cast<uint8_t>(value != 0.0));
    case DType::kUInt8:
      return put(static_cast<uint8_t>(static_cast<int64_t>(v)));
    case DType::kInt8:
      return put(static_cast<int8_t>(static_cast<int64_t>(v)));
    case DType::kInt16:
      return put(static_cast<int16_t>(static_cast<int64_t>(v)));
    case DType::kUInt16:
      return put(static_cast<uint16_t>(static_cast<int64_t>(v)));
    case DType::kInt32:
      return put(static_cast<int32_t>(static_cast<int64_t>(v)));
    case DType::kUInt32:
      return put(static_cast<uint32_t>(static_cast<int64_t>(v)));
    case DType::kInt64:
      return put(static_cast<int64_t>(v));
    case DType::kUInt64:
      return put(v < 0 ? static_cast<uint64_t>(static_cast<int64_t>(v)) : static_cast<uint64_t>(v));
    case DType::kFloat16:
      return put(f32_to_f16(static_cast<float>(v)));
    case DType::kBFloat16:
      return put(f32_to_bf16(static_cast<float>(v)));
    case DType::kFloat8E4M3FN:
      return put(f32_to_f8e4m3(static_cast<float>(v)));
    case DType::kFloat8E5M2:
      return put(f32_to_f8e5m2(static_cast<float>(v)));
    case DType::kFloat32:
      return put(static_cast<float>(v));
    case DType::kFloat64:
      return put(v);
    case DType::kComplex64:
      return put(std::complex<float>(value));
    case DType::kComplex128:
      return put(value);
    default:
      PD_INVARIANT(!"dtype");
  }
}

}  // namespace paddle
