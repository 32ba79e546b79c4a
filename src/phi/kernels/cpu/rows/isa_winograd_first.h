// Winograd's F(4x4, 3x3) for images with channels first. Lanes are tiles, whichever rows they are of.
#pragma once
#include "phi/kernels/cpu/rows/isa_phases.h"
#include "phi/kernels/cpu/rows/isa_tail.h"
#include "phi/kernels/cpu/rows/isa_winograd.h"

namespace paddle::rows::detail::PD_ISA {
namespace {

// Accumulators of a product: filters by vectors of tiles, beside these vectors and one broadcast weight. Filters come
// in powers of two, which eight divide.
#if defined(__AVX512F__)
inline constexpr int kFirstFilters = 8, kFirstVectors = 3;
#else
inline constexpr int kFirstFilters = 6, kFirstVectors = 2;
#endif

// Tiles side by side in one row of one image, and what of the input they read: six lines of some columns, of which
// [begin, end) lie inside the image.
struct Strip {
  TileAt at;
  int64_t tiles, lane;  // how many, from which lane of the chunk on
  int64_t columns, begin, end;
  int64_t line[6];  // where each line's first column is in its plane; kOutside for a line of zeros
};
inline constexpr int64_t kStrip = 32;  // tiles at most
inline constexpr int64_t kOutside = INT64_MIN;

inline Strip strip_at(const WinogradTask& t, int64_t lane) {
  Strip s;
  s.at = tile_at(t, t.first + lane);
  s.tiles = least(least(t.tiles_x - s.at.x / 4, t.tiles - lane), kStrip);
  s.lane = lane;
  const int64_t left = s.at.x - t.pad_left;
  s.columns = 4 * s.tiles + 2;
  s.begin = left < 0 ? least(-left, s.columns) : 0;
  s.end = t.width - left < s.begin ? s.begin : least(s.columns, t.width - left);
  for (int64_t i = 0; i < 6; ++i) {
    const int64_t y = s.at.y + i - t.pad_top;
    s.line[i] = y >= 0 && y < t.height ? y * t.width + left : kOutside;
  }
  return s;
}

template <class F>
void each_strip(const WinogradTask& t, F&& f) {
  for (int64_t lane = 0; lane < t.tiles;) {
    const Strip s = strip_at(t, lane);
    f(s);
    lane += s.tiles;
  }
}

// Six lines of a strip, between the two halves of its transformation. They are read back by the vectors by which they
// are stored, so that the processor can pass these on while the stores wait behind others.
struct StripLines {
  static constexpr int64_t kColumns = 4 * (kStrip + 1) + 5 * kVf, kPitch = (kColumns + 15) / 16 * 16;
  alignas(64) float at[6 * kPitch] = {};  // what no input fills is computed with: not as denormals
};
constexpr float kNoLine[StripLines::kColumns] = {};

// Down the columns: six lines of the input become six, with zeros around the image.
void strip_columns(const Strip& s, const float* plane, StripLines& lines) {
  const float* from[6];
  for (int i = 0; i < 6; ++i) from[i] = s.line[i] == kOutside ? kNoLine : plane + s.line[i];
  auto step = [&](int64_t k, auto&& read) {
    Vf d[6], out[6];
    for (int i = 0; i < 6; ++i) d[i] = read(from[i] + k);
    input_line(d, out);
    for (int i = 0; i < 6; ++i) store(lines.at + i * StripLines::kPitch + k, out[i]);
  };
  for (int64_t k = 0; k < s.columns; k += kVf) {
    if (k >= s.begin && k + kVf <= s.end) {
      step(k, [](const float* x) { return load(x); });
    } else {
      const Lanes inside(s.begin - k, s.end - k);
      step(k, [&](const float* x) { return inside.load(x); });
    }
  }
}

// Along the lines: v[6 a + i] of each tile.
void strip_along(const WinogradTask& t, const Strip& s, const StripLines& lines, float* to) {
  for (int64_t a = 0; a < 6; ++a, to += 6 * t.v_pitch) {
    Vf phases[4], next[4] = {};  // beyond the strip: what is computed with is no denormal
    const float* line = lines.at + a * StripLines::kPitch;
    split4(line, phases);
    for (int64_t k = 0; k < s.tiles; k += kVf) {
      if (k + kVf <= s.tiles) split4(line + 4 * (k + kVf), next);
      const Vf d[6] = {
          phases[0], phases[1], phases[2], phases[3], from_second(phases[0], next[0]), from_second(phases[1], next[1])};
      Vf out[6];
      input_line(d, out);
      for (int64_t i = 0; i < 6; ++i) store(to + i * t.v_pitch + k, out[i]);
      for (int j = 0; j < 4; ++j) phases[j] = next[j];
    }
  }
}

// Planes lie far apart: no hardware foresees the next ones' lines.
inline constexpr int64_t kPlanesAhead = 4;
inline void fetch_strip(const Strip& s, const float* plane) {
  for (const int64_t line : s.line)
    for (int64_t k = s.begin; line != kOutside && k < s.end; k += 16) __builtin_prefetch(plane + line + k);
}

// A strip's last vector reaches beyond it: into what the next one fills, or the end of the row. The second half of the
// transformation is a channel behind the first, so that it needn't wait for what that one has just stored.
void first_input(const WinogradTask& t, int64_t begin, int64_t end) {
  StripLines lines[2];
  const int64_t plane = t.height * t.width;
  each_strip(t, [&](const Strip& s) {
    const float* x = t.x + s.at.image * t.channels * plane;
    strip_columns(s, x + begin * plane, lines[begin % 2]);
    for (int64_t c = begin; c < end; ++c) {
      if (c + kPlanesAhead < end) fetch_strip(s, x + (c + kPlanesAhead) * plane);
      if (c + 1 < end) strip_columns(s, x + (c + 1) * plane, lines[(c + 1) % 2]);
      strip_along(t, s, lines[c % 2], t.v + c * t.row + s.lane);
    }
  });
}

// m[filter][lane] = sum over channels of u[channel][filter] v[channel][lane]
template <int vectors>
void first_block(int64_t channels, const float* u, const float* v, float* m, int64_t row) {
  Vf acc[kFirstFilters][vectors];
#pragma GCC unroll 8
  for (int k = 0; k < kFirstFilters; ++k)
#pragma GCC unroll 4
    for (int j = 0; j < vectors; ++j) acc[k][j] = broadcast(0.0f);
  for (int64_t c = 0; c < channels; ++c, u += kFirstFilters, v += row) {
    Vf x[vectors];
    for (int j = 0; j < vectors; ++j) x[j] = load(v + j * kVf);
#pragma GCC unroll 8
    for (int k = 0; k < kFirstFilters; ++k) {
      const Vf w = broadcast(u[k]);
#pragma GCC unroll 4
      for (int j = 0; j < vectors; ++j) acc[k][j] += w * x[j];
    }
  }
  for (int k = 0; k < kFirstFilters; ++k)
    for (int j = 0; j < vectors; ++j) store(m + k * row + j * kVf, acc[k][j]);
}

void first_product(const WinogradTask& t, int64_t begin, int64_t end) {
  const int64_t blocks = t.padded_filters / kFirstFilters, vectors = (t.tiles + kVf - 1) / kVf;
  for (int64_t job = begin; job < end; ++job) {
    const float* u = t.u + job * t.channels * kFirstFilters;
    const float* v = t.v + job / blocks * t.v_pitch;
    float* m = t.m + job / blocks * t.m_pitch + job % blocks * kFirstFilters * t.row;
    int64_t k = 0;
    for (; k + kFirstVectors <= vectors; k += kFirstVectors)
      first_block<kFirstVectors>(t.channels, u, v + k * kVf, m + k * kVf, t.row);
    for (; k + 2 <= vectors; k += 2) first_block<2>(t.channels, u, v + k * kVf, m + k * kVf, t.row);
    for (; k < vectors; ++k) first_block<1>(t.channels, u, v + k * kVf, m + k * kVf, t.row);
  }
}

// A line of results, n of them, with what follows the convolution.
void first_line(const WinogradTask& t, const Vf* results, int64_t offset, int64_t n) {
  const Vf zero = broadcast(0.0f);
  for (int j = 0; j < 4 && n > 0; ++j, n -= kVf, offset += kVf) {
    Vf y = results[j];
    if (t.residual) y += n >= kVf ? load(t.residual + offset) : load_some<float>(t.residual + offset, n);
    if (t.relu) y = y < zero ? zero : y;  // NaN stays
    n >= kVf ? store(t.y + offset, y) : store_some<float>(t.y + offset, y, n);
  }
}

void first_output(const WinogradTask& t, int64_t begin, int64_t end) {
  each_strip(t, [&](const Strip& s) {
    const int64_t high = least(4, t.out_h - s.at.y), wide = least(4 * s.tiles, t.out_w - s.at.x);
    for (int64_t f = begin; f < end; ++f) {
      const Vf bias = broadcast(t.bias ? t.bias[f] : 0.0f);
      const int64_t base = ((s.at.image * t.filters + f) * t.out_h + s.at.y) * t.out_w + s.at.x;
      for (int64_t k = 0; k < s.tiles; k += kVf) {
        Vf half[4][6];
        output_columns(t.m + f * t.row + s.lane + k, t.m_pitch, half);
        for (int64_t i = 0; i < high; ++i) {
          Vf phases[4], y[4];
          output_line(half[i], phases);
          for (Vf& p : phases) p += bias;
          join4(phases, y);
          first_line(t, y, base + i * t.out_w + 4 * k, wide - 4 * k);
        }
      }
    }
  });
}

WinogradFns winograd_first() {
  return {kFirstFilters, kFirstVectors * kVf, kVf, true, first_input, first_product, first_output};
}

}  // namespace
}  // namespace paddle::rows::detail::PD_ISA
