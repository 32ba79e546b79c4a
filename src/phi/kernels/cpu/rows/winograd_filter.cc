#include "phi/kernels/cpu/rows/winograd_filter.h"

#include <xmmintrin.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/cpu_features.h"
#include "base/error.h"
#include "base/parallel_for.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/kernels/cpu/rows/row_table.h"

namespace paddle::kernels {

float* aligned_zeros(int64_t floats, const char* what) {
  const int64_t bytes = (4 * floats + 63) / 64 * 64;
  auto* p = static_cast<float*>(std::aligned_alloc(64, static_cast<size_t>(bytes)));
  check(p != nullptr, ErrorKind::kMemory, "[conv2d] no memory for {} bytes of {}", bytes, what);
  std::fill_n(p, floats, 0.0f);
  return p;
}

namespace {

constexpr int64_t kChannels = 32;  // turned at a time: their elements are whole lines of memory
constexpr int64_t kRun = 128;      // floats that go to a plane at a time

// Rows of n floats, made_pitch apart, to planes. Around the cache: there they would wait for lines that are written
// whole.
void put(float* u, int64_t plane, const float* made, int64_t made_pitch, int64_t n, bool around) {
  around = around && n % 16 == 0 && plane % 16 == 0 && reinterpret_cast<uintptr_t>(u) % 64 == 0;
  for (int i = 0; i < 36; ++i, u += plane, made += made_pitch) {
    if (!around) {
      std::copy_n(made, n, u);
      continue;
    }
    for (int64_t j = 0; j < n; j += 4) _mm_stream_ps(u + j, _mm_loadu_ps(made + j));
  }
}

// Some blocks of filters.
class Transformer {
 public:
  Transformer(const Tensor& filter, const float* scale, int64_t block, float* u, int64_t plane)
      : w_(filter.data<float>()),
        scale_(scale),
        filters_(filter.size(0)),
        channels_(filter.size(1)),
        block_(block),
        pitch_((block + rows::kFilterLanes - 1) / rows::kFilterLanes * rows::kFilterLanes),
        step_(std::clamp<int64_t>(kRun / block, 1, kChannels)),
        u_(u),
        plane_(plane),
        around_(36 * 4 * plane > l2_bytes()),
        turned_(static_cast<size_t>(9 * kChannels * pitch_)),
        made_(static_cast<size_t>(36 * step_ * block)) {}

  void block(int64_t k) {
    const int64_t first = k * block_, there = std::min(block_, filters_ - first);
    std::fill(turned_.begin(), turned_.end(), 0.0f);  // what no filter fills
    for (int64_t c = 0; c < channels_; c += kChannels) {
      const int64_t channels = std::min(kChannels, channels_ - c);
      rows::row_table().turn_filters({w_ + (first * channels_ + c) * 9, channels_ * 9, turned_.data(), pitch_,
                                      channels * 9, there, scale_ ? scale_ + first : nullptr});
      for (int64_t i = 0; i < channels; i += step_) {
        const int64_t n = std::min(step_, channels - i);
        rows::row_table().winograd_filters(
            {turned_.data() + 9 * i * pitch_, pitch_, n, block_, made_.data(), step_ * block_});
        put(u_ + (k * channels_ + c + i) * block_, plane_, made_.data(), step_ * block_, n * block_, around_);
      }
    }
  }

 private:
  const float *w_, *scale_;
  int64_t filters_, channels_, block_, pitch_, step_;
  float* u_;
  int64_t plane_;
  bool around_;
  std::vector<float> turned_, made_;
};

}  // namespace

Ref<Storage> transformed_filters(const Tensor& filter, const Tensor& any_scale, int64_t block) {
  const Tensor scale = any_scale.defined() ? dense(any_scale) : any_scale;
  const float* factors = scale.defined() ? scale.data<float>() : nullptr;
  const int64_t filters = filter.size(0), channels = filter.size(1), blocks = (filters + block - 1) / block;
  const int64_t plane = blocks * channels * block;
  Ref<Storage> made = Storage::allocate(static_cast<size_t>(36 * plane) * sizeof(float), Place::cpu());
  auto* u = static_cast<float*>(made->data());
  parallel_for(0, blocks, std::max<int64_t>(1, 4096 / (channels * block)), [&](int64_t begin, int64_t end) {
    Transformer transformer(filter, factors, block, u, plane);
    for (int64_t k = begin; k < end; ++k) transformer.block(k);
    _mm_sfence();
  });
  return made;
}

}  // namespace paddle::kernels
