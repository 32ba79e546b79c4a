// Convolutions 3x3 with stride 1 by Winograd's F(4x4, 3x3) (Lavin and Gray, "Fast Algorithms for Convolutional Neural
// Networks", 2016): 36 products per tile of 16 results instead of 144. Lanes are tiles; a task takes some rows of
// tiles.
#pragma once
#include <cstring>

#include "phi/kernels/cpu/rows/row_table.h"
#include "phi/kernels/cpu/tile/isa_math.h"

namespace paddle::rows::detail::PD_ISA {
namespace {

using namespace tile::detail::PD_ISA;

using Vf = VecOf<float>;
inline constexpr int64_t kVf = kLanes<float>;

// Filters per block of the product: accumulators beside two vectors of tiles and a broadcast one.
#if defined(__AVX512F__)
inline constexpr int kWinogradFilters = 12;
#else
inline constexpr int kWinogradFilters = 6;
#endif

// B^T d: what a line of six inputs becomes.
template <class V>
inline void input_line(const V* d, V* out) {
  const V t0 = d[4] - 4.0f * d[2], t1 = d[3] - 4.0f * d[1];
  const V t2 = d[4] - d[2], t3 = 2.0f * (d[3] - d[1]);
  out[0] = 4.0f * d[0] - 5.0f * d[2] + d[4];
  out[1] = t0 + t1;
  out[2] = t0 - t1;
  out[3] = t2 + t3;
  out[4] = t2 - t3;
  out[5] = 4.0f * d[1] - 5.0f * d[3] + d[5];
}

// A^T m: four results from a line of six products.
template <class V>
inline void output_line(const V* m, V* out) {
  const V s1 = m[1] + m[2], s2 = m[3] + m[4], d1 = m[1] - m[2], d2 = m[3] - m[4];
  out[0] = m[0] + s1 + s2;
  out[1] = d1 + 2.0f * d2;
  out[2] = s1 + 4.0f * s2;
  out[3] = d1 + 8.0f * d2 + m[5];
}

// One row of tiles of one channel: six lines of the input, split by column modulo 4 so that tiles lie side by side.
void winograd_input(const WinogradTask& t, const float* plane, int64_t tile_row, float* phases, float* to,
                    int64_t channel_lanes) {
  const int64_t tiles = t.tiles_x, pitch = t.phase_pitch;
  float* line = phases + 24 * pitch;
  for (int64_t i = 0; i < 6; ++i) {
    const int64_t y = tile_row * 4 + i - t.pad_top;
    float* into = phases + i * 4 * pitch;
    if (y < 0 || y >= t.height) {
      std::memset(into, 0, static_cast<size_t>(4 * pitch) * sizeof(float));
      continue;
    }
    const int64_t length = 4 * (tiles + 1), inside = t.width < length - t.pad_left ? t.width : length - t.pad_left;
    for (int64_t k = 0; k < t.pad_left; ++k) line[k] = 0;
    std::memcpy(line + t.pad_left, plane + y * t.width, static_cast<size_t>(inside) * sizeof(float));
    for (int64_t k = t.pad_left + inside; k < length; ++k) line[k] = 0;
#pragma omp simd
    for (int64_t k = 0; k <= tiles; ++k) {
      into[k] = line[4 * k];
      into[pitch + k] = line[4 * k + 1];
      into[2 * pitch + k] = line[4 * k + 2];
      into[3 * pitch + k] = line[4 * k + 3];
    }
    // What whole vectors reach beyond the tiles is computed with: left alone it could be denormal, which is twenty
    // times slower.
    for (int64_t p = 0; p < 4; ++p)
      for (int64_t k = tiles + 1; k < pitch; ++k) into[p * pitch + k] = 0;
  }
  // Down the columns, in place; then along the lines.
  for (int64_t k = 0; k < 4 * pitch; k += kVf) {
    Vf d[6], out[6];
    for (int64_t i = 0; i < 6; ++i) d[i] = load(phases + i * 4 * pitch + k);
    input_line(d, out);
    for (int64_t i = 0; i < 6; ++i) store(phases + i * 4 * pitch + k, out[i]);
  }
  for (int64_t a = 0; a < 6; ++a) {
    const float* from = phases + a * 4 * pitch;
    for (int64_t k = 0; k < tiles; k += kVf) {
      Vf d[6], out[6];
      for (int64_t i = 0; i < 6; ++i) d[i] = load(from + (i % 4) * pitch + k + i / 4);
      input_line(d, out);
      for (int64_t b = 0; b < 6; ++b) store(to + (6 * a + b) * channel_lanes + k, out[b]);
    }
  }
}

// m[k][lane] = sum over channels of u[c][k] v[c][lane], for kWinogradFilters filters and `vectors` vectors of lanes.
template <int vectors>
void winograd_product(int64_t channels, const float* u, const float* v, int64_t v_pitch, float* m, int64_t lanes) {
  Vf acc[kWinogradFilters][vectors];
  for (auto& row : acc)
    for (Vf& a : row) a = broadcast(0.0f);
  for (int64_t c = 0; c < channels; ++c, u += kWinogradFilters, v += v_pitch) {
    Vf x[vectors];
    for (int j = 0; j < vectors; ++j) x[j] = load(v + j * kVf);
#pragma GCC unroll 12
    for (int k = 0; k < kWinogradFilters; ++k) {
      const Vf w = broadcast(u[k]);
#pragma GCC unroll 2
      for (int j = 0; j < vectors; ++j) acc[k][j] += w * x[j];
    }
  }
  for (int k = 0; k < kWinogradFilters; ++k)
    for (int j = 0; j < vectors; ++j) store(m + k * lanes + j * kVf, acc[k][j]);
}

// One line of results: from four phases to columns, with what follows the convolution.
void winograd_line(const WinogradTask& t, const float* phases, int64_t lanes, int64_t at, float* y,
                   const float* residual) {
  const float *p0 = phases + at, *p1 = p0 + lanes, *p2 = p1 + lanes, *p3 = p2 + lanes;
  const int64_t whole = t.out_w / 4;
#pragma omp simd
  for (int64_t k = 0; k < whole; ++k) {
    y[4 * k] = p0[k];
    y[4 * k + 1] = p1[k];
    y[4 * k + 2] = p2[k];
    y[4 * k + 3] = p3[k];
  }
  for (int64_t x = 4 * whole; x < t.out_w; ++x) y[x] = phases[(x - 4 * whole) * lanes + at + whole];
  if (residual)
#pragma omp simd
    for (int64_t x = 0; x < t.out_w; ++x) y[x] += residual[x];
  if (t.relu)  // NaN stays
#pragma omp simd
    for (int64_t x = 0; x < t.out_w; ++x) y[x] = y[x] < 0 ? 0 : y[x];
}

void winograd_output(const WinogradTask& t, const float* m, int64_t filter, int64_t lanes, float* phases) {
  const Vf bias = broadcast(t.bias ? t.bias[filter] : 0.0f);
  for (int64_t k = 0; k < lanes; k += kVf) {
    Vf half[4][6];
    for (int64_t b = 0; b < 6; ++b) {
      Vf column[6], out[4];
      for (int64_t a = 0; a < 6; ++a) column[a] = load(m + (6 * a + b) * kWinogradFilters * lanes + k);
      output_line(column, out);
      for (int64_t i = 0; i < 4; ++i) half[i][b] = out[i];
    }
    for (int64_t i = 0; i < 4; ++i) {
      Vf out[4];
      output_line(half[i], out);
      for (int64_t j = 0; j < 4; ++j) store(phases + (4 * i + j) * lanes + k, out[j] + bias);
    }
  }
  const int64_t plane = t.out_h * t.out_w;
  for (int64_t r = 0; r < t.rows; ++r) {
    const int64_t image = (t.first_row + r) / t.tiles_y, tile_row = (t.first_row + r) % t.tiles_y;
    const int64_t base = (image * t.filters + filter) * plane;
    for (int64_t i = 0; i < 4 && tile_row * 4 + i < t.out_h; ++i) {
      const int64_t offset = base + (tile_row * 4 + i) * t.out_w;
      winograd_line(t, phases + 4 * i * lanes, lanes, r * t.tiles_x, t.y + offset,
                    t.residual ? t.residual + offset : nullptr);
    }
  }
}

int64_t winograd_lanes(const WinogradTask& t) { return (t.rows * t.tiles_x + kVf - 1) / kVf * kVf; }

int64_t winograd_scratch(const WinogradTask& t) {
  const int64_t lanes = winograd_lanes(t);
  return 36 * t.channels * (lanes + kVf) + 36 * kWinogradFilters * lanes + 16 * lanes + 28 * t.phase_pitch + 8 * kVf;
}

void winograd_run(const WinogradTask& t, float* scratch) {
  const int64_t lanes = winograd_lanes(t);
  const int64_t pitch = lanes + kVf;  // a row of tiles ends within a vector
  float* v = scratch;                 // [36][channel][lane]
  float* m = v + 36 * t.channels * pitch;
  float* phases = m + 36 * kWinogradFilters * lanes;
  float* work = phases + 16 * lanes;
  const int64_t of_number = t.channels * pitch;
  for (int64_t c = 0; c < t.channels; ++c)
    for (int64_t r = 0; r < t.rows; ++r) {
      const int64_t image = (t.first_row + r) / t.tiles_y, tile_row = (t.first_row + r) % t.tiles_y;
      const float* plane = t.x + (image * t.channels + c) * t.height * t.width;
      winograd_input(t, plane, tile_row, work, v + c * pitch + r * t.tiles_x, of_number);
    }
  for (int64_t first = 0; first < t.filters; first += kWinogradFilters) {
    const float* u = t.u + first / kWinogradFilters * 36 * t.channels * kWinogradFilters;
    for (int64_t n = 0; n < 36; ++n, u += t.channels * kWinogradFilters) {
      float* into = m + n * kWinogradFilters * lanes;
      const float* from = v + n * of_number;
      int64_t k = 0;
      for (; k + 2 * kVf <= lanes; k += 2 * kVf) winograd_product<2>(t.channels, u, from + k, pitch, into + k, lanes);
      if (k < lanes) winograd_product<1>(t.channels, u, from + k, pitch, into + k, lanes);
    }
    for (int64_t k = 0; k < kWinogradFilters && first + k < t.filters; ++k)
      winograd_output(t, m + k * lanes, first + k, lanes, phases);
  }
}

WinogradFns winograd() { return {kWinogradFilters, kVf, winograd_scratch, winograd_run}; }

}  // namespace
}  // namespace paddle::rows::detail::PD_ISA
