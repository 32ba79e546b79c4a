// The storage floats (float16, bfloat16, float8) and their conversions from and to float32.
//
// All round to nearest, ties to even; NaN stays NaN. The functions are free of branches where that lets a loop over
// them be vectorised, and always inlined: kernels compile them under several instruction sets, and an out-of-line copy
// would be shared by the linker among these.
#pragma once
#include <bit>
#include <cstdint>

namespace paddle {

#define PD_ALWAYS_INLINE [[gnu::always_inline]] inline

PD_ALWAYS_INLINE float f16_to_f32(uint16_t h) {
  // As a float32 the shifted bits are 2^-112 times the value, denormals included.
  const float scaled = std::bit_cast<float>(static_cast<uint32_t>(h & 0x7fffu) << 13) * 0x1p112f;
  uint32_t bits = std::bit_cast<uint32_t>(scaled);
  bits |= scaled >= 65536.0f ? 0x7f800000u : 0u;
  return std::bit_cast<float>(bits | (static_cast<uint32_t>(h & 0x8000u) << 16));
}

PD_ALWAYS_INLINE uint16_t f32_to_f16(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f), magnitude = bits & 0x7fffffffu, sign = (bits >> 16) & 0x8000u;
  const uint32_t special = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  const float denormal = std::bit_cast<float>(magnitude) + 0.5f;  // the sum's last bit is float16's smallest denormal
  const uint32_t small = std::bit_cast<uint32_t>(denormal) - 0x3f000000u;
  const uint32_t normal = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  const uint32_t finite = magnitude < (113u << 23) ? small : normal;
  return static_cast<uint16_t>(sign | (magnitude >= 0x47800000u ? special : finite));
}

PD_ALWAYS_INLINE float bf16_to_f32(uint16_t b) { return std::bit_cast<float>(static_cast<uint32_t>(b) << 16); }

PD_ALWAYS_INLINE uint16_t f32_to_bf16(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t nan = (bits >> 16) | 0x40u;
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

// float8 e4m3fn: bias 7, no infinity, NaN is 0x7f, largest 448. What rounds beyond it is NaN.
PD_ALWAYS_INLINE float f8e4m3_to_f32(uint8_t v) {
  const uint32_t magnitude = v & 0x7fu;
  float f = std::bit_cast<float>(magnitude << 20) * 0x1p120f;
  f = magnitude == 0x7fu ? __builtin_nanf("") : f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(f) | (static_cast<uint32_t>(v & 0x80u) << 24));
}

PD_ALWAYS_INLINE uint8_t f32_to_f8e4m3(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f), magnitude = bits & 0x7fffffffu, sign = (bits >> 24) & 0x80u;
  const float denormal = std::bit_cast<float>(magnitude) + 0x1p14f;
  const uint32_t small = std::bit_cast<uint32_t>(denormal) - (141u << 23);
  const uint32_t normal = (magnitude - (120u << 23) + 0x7ffffu + ((magnitude >> 20) & 1u)) >> 20;
  const uint32_t finite = magnitude < (121u << 23) ? small : normal;
  return static_cast<uint8_t>(sign | (magnitude >= 0x43f00000u || finite > 0x7eu ? 0x7fu : finite));
}

// float8 e5m2: a float16 with two bits of mantissa.
PD_ALWAYS_INLINE float f8e5m2_to_f32(uint8_t v) { return f16_to_f32(static_cast<uint16_t>(v << 8)); }

PD_ALWAYS_INLINE uint8_t f32_to_f8e5m2(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f), magnitude = bits & 0x7fffffffu, sign = (bits >> 24) & 0x80u;
  const uint32_t special = magnitude > 0x7f800000u ? 0x7eu : 0x7cu;
  const float denormal = std::bit_cast<float>(magnitude) + 0x1p7f;
  const uint32_t small = std::bit_cast<uint32_t>(denormal) - (134u << 23);
  const uint32_t normal = (magnitude - (112u << 23) + 0xfffffu + ((magnitude >> 21) & 1u)) >> 21;
  const uint32_t finite = magnitude < (113u << 23) ? small : normal;
  return static_cast<uint8_t>(sign | (magnitude >= 0x47800000u ? special : finite));
}

// One element in memory. They convert to and from float only; arithmetic is done in float32.
struct float16 {
  uint16_t bits;
  PD_ALWAYS_INLINE operator float() const { return f16_to_f32(bits); }
  PD_ALWAYS_INLINE static float16 from(float f) { return {f32_to_f16(f)}; }
};
struct bfloat16 {
  uint16_t bits;
  PD_ALWAYS_INLINE operator float() const { return bf16_to_f32(bits); }
  PD_ALWAYS_INLINE static bfloat16 from(float f) { return {f32_to_bf16(f)}; }
};
struct float8_e4m3fn {
  uint8_t bits;
  PD_ALWAYS_INLINE operator float() const { return f8e4m3_to_f32(bits); }
  PD_ALWAYS_INLINE static float8_e4m3fn from(float f) { return {f32_to_f8e4m3(f)}; }
};
struct float8_e5m2 {
  uint8_t bits;
  PD_ALWAYS_INLINE operator float() const { return f8e5m2_to_f32(bits); }
  PD_ALWAYS_INLINE static float8_e5m2 from(float f) { return {f32_to_f8e5m2(f)}; }
};

}  // namespace paddle
