// Winograd's F(4x4, 3x3) for images with channels last. Lanes are channels, so that no tile is wasted, whatever the
// picture's size; the products are 36 small matrix products, tiles by channels times channels by filters.
#pragma once
#include "phi/kernels/cpu/rows/isa_panel.h"
#include "phi/kernels/cpu/rows/isa_winograd.h"

namespace paddle::rows::detail::PD_ISA {
namespace {

inline constexpr int64_t kLastFilters = kPanelWidth;

// v[n][tile][channel], for tiles [begin, end) of the chunk.
void last_input(const WinogradTask& t, int64_t begin, int64_t end) {
  for (int64_t tile = begin; tile < end; ++tile) {
    const TileAt at = tile_at(t, t.first + tile);
    const float* from[36];
    int64_t step[36];
    for (int64_t i = 0; i < 6; ++i)
      for (int64_t j = 0; j < 6; ++j) {
        const int64_t y = at.y + i - t.pad_top, x = at.x + j - t.pad_left;
        const bool inside = y >= 0 && y < t.height && x >= 0 && x < t.width;
        from[6 * i + j] = inside ? t.x + ((at.image * t.height + y) * t.width + x) * t.channels : t.zeros;
        step[6 * i + j] = inside;
      }
    float* to = t.v + tile * t.channels;
    for (int64_t c = 0; c < t.channels; c += kVf) {
      Vf half[36];
      for (int j = 0; j < 6; ++j) {
        Vf d[6], out[6];
        for (int i = 0; i < 6; ++i) d[i] = load(from[6 * i + j] + step[6 * i + j] * c);
        input_line(d, out);
        for (int i = 0; i < 6; ++i) half[6 * i + j] = out[i];
      }
      for (int i = 0; i < 6; ++i) {
        Vf out[6];
        input_line(half + 6 * i, out);
        for (int j = 0; j < 6; ++j) store(to + (6 * i + j) * t.v_pitch + c, out[j]);
      }
    }
  }
}

// m[n][tile][filter] = v[n] u[n], for jobs [begin, end) of 36 * blocks of filters.
void last_product(const WinogradTask& t, int64_t begin, int64_t end) {
  const int64_t blocks = t.padded_filters / kLastFilters;
  for (int64_t job = begin; job < end; ++job) {
    const int64_t n = job / blocks, block = job % blocks;
    const float* u = t.u + job * t.channels * kLastFilters;
    const float* v = t.v + n * t.v_pitch;
    float* m = t.m + n * t.m_pitch + block * kLastFilters;
    panel_product(t.tiles, t.channels, v, t.channels, u, m, t.padded_filters);
  }
}

// Results of tiles [begin, end), with what follows the convolution.
void last_output(const WinogradTask& t, int64_t begin, int64_t end) {
  const Vf zero = broadcast(0.0f);
  for (int64_t tile = begin; tile < end; ++tile) {
    const TileAt at = tile_at(t, t.first + tile);
    const int64_t high = t.out_h - at.y < 4 ? t.out_h - at.y : 4, wide = t.out_w - at.x < 4 ? t.out_w - at.x : 4;
    const int64_t base = ((at.image * t.out_h + at.y) * t.out_w + at.x) * t.filters;
    const float* from = t.m + tile * t.padded_filters;
    for (int64_t k = 0; k < t.filters; k += kVf) {
      Vf half[4][6];
      output_columns(from + k, t.m_pitch, half);
      const Vf bias = t.bias ? load(t.bias + k) : zero;
      for (int64_t i = 0; i < high; ++i) {
        Vf out[4];
        output_line(half[i], out);
        for (int64_t j = 0; j < wide; ++j) {
          const int64_t offset = base + (i * t.out_w + j) * t.filters + k;
          Vf y = out[j] + bias;
          if (t.residual) y += load(t.residual + offset);
          if (t.relu) y = y < zero ? zero : y;  // NaN stays
          store(t.y + offset, y);
        }
      }
    }
  }
}

WinogradFns winograd_last() { return {kLastFilters, kPanelRows, kVf, false, last_input, last_product, last_output}; }

}  // namespace
}  // namespace paddle::rows::detail::PD_ISA
