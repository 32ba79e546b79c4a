// Loops over one row, compiled for each instruction set: softmax, normalisations, their gradients. A row is contiguous
// and of the type that is computed in, float or double; what lies in memory in 16 bits is widened into a scratch row
// first (row_span.h).
//
// Only plain types here, as in tile/kernel_table.h: the files behind it are compiled with different -march flags.
#pragma once
#include <cstdint>

namespace paddle::rows {

// In all of them an output row may be an input row. NaN anywhere in a row makes a softmax of it NaN, as does +inf.
template <class T>
struct RowFns {
  // y = exp(x - max x) / sum; returns log(sum exp x).
  T (*softmax)(T* y, const T* x, int64_t n);
  T (*log_softmax)(T* y, const T* x, int64_t n);
  // log(sum exp x) alone.
  T (*log_sum_exp)(const T* x, int64_t n);
  // gx = (g - sum g y) y
  void (*softmax_grad)(T* gx, const T* y, const T* g, int64_t n);
  // gx = g - exp(y) sum g
  void (*log_softmax_grad)(T* gx, const T* y, const T* g, int64_t n);

  T (*sum)(const T* x, int64_t n);
  // sum (x - mean)^2
  T (*squares)(const T* x, T mean, int64_t n);
  // (sum g, sum g (x - mean))
  void (*grad_sums)(const T* g, const T* x, T mean, int64_t n, T* sum, T* with_x);

  // y = (x - mean) * inv * scale + bias; scale and bias are rows or null.
  void (*normalise)(T* y, const T* x, T mean, T inv, const T* scale, const T* bias, int64_t n);
  // gx = inv (s - mean s - xhat mean(s xhat)) with s = g scale, xhat = (x - mean) inv; adds g xhat to scale_grad and g
  // to bias_grad where these are not null.
  void (*normalise_grad)(T* gx, const T* x, const T* g, T mean, T inv, const T* scale, T* scale_grad, T* bias_grad,
                         int64_t n);

  // y = (x - mean) * factor + bias with numbers, and with rows.
  void (*affine)(T* y, const T* x, T mean, T factor, T bias, int64_t n);
  void (*affine_rows)(T* y, const T* x, const T* mean, const T* factor, const T* bias, int64_t n);
  // y = g * a + (x - mean) * b + c
  void (*blend)(T* y, const T* g, const T* x, T a, T b, T mean, T c, int64_t n);
  // sum += x; squares += (x - mean)^2
  void (*add_to)(T* sum, const T* x, int64_t n);
  void (*add_squares)(T* squares, const T* x, const T* mean, int64_t n);
  // y = max(y, x); NaN stays
  void (*max_to)(T* y, const T* x, int64_t n);
  // y *= factor
  void (*times)(T* y, const T* x, T factor, int64_t n);
};

// The innermost loop of a matrix product: a tile of mr x nr results.
template <class T>
struct GemmFns {
  int64_t mr, nr;
  // c[i * ldc + j] (+)= sum over p < k of a[i * a_row + p * a_col] b[p * nr + j]; `add`: to what c holds.
  void (*tile)(int64_t k, const T* a, int64_t a_row, int64_t a_col, const T* b, T* c, int64_t ldc, bool add);
  // Slices of mr (pack_a) or nr (pack_b) rows of a matrix, each stored depth by depth; `across` rows, `along` deep;
  // what is missing of the last is zero.
  void (*pack_a)(T* to, const T* from, int64_t across, int64_t along, int64_t across_stride, int64_t along_stride);
  void (*pack_b)(T* to, const T* from, int64_t across, int64_t along, int64_t across_stride, int64_t along_stride);
};

// Some rows times a panel of a matrix (isa_panel.h): y[i, j] = sum over p < k of x[i, p] panel[p, j], j < width.
struct PanelFns {
  int64_t width;
  void (*run)(int64_t rows, int64_t k, const float* x, int64_t ldx, const float* panel, float* y, int64_t ldy);
  // A panel of bfloat16, which are widened as they are read.
  void (*run_bf16)(int64_t rows, int64_t k, const float* x, int64_t ldx, const uint16_t* panel, float* y, int64_t ldy);
};

// A block of a product of small matrices (isa_small.h): c[i, j] (+)= sum over p < depth of a[i, p] b[p, j], `add`: to
// what c holds. a lies anyhow, rows of b and c are dense. Nothing beyond the matrices is read.
struct SmallProduct {
  int64_t rows, columns, depth;
  const float* a;
  int64_t a_row, a_col;
  const float* b;
  int64_t ldb;
  float* c;
  int64_t ldc;
  bool add;
};
using SmallProductFn = void (*)(const SmallProduct& t);

// The same for just `width` columns of a b that is not at hand (isa_across.h).
struct AcrossFns {
  int64_t width;
  SmallProductFn run;
};

// A product of small blocks (isa_attention.h): c (+)= a b, `add`: to what c holds.
struct BlockProduct {
  int64_t rows, cols, depth;
  const float* a;  // a[i * lda + p], or where `across` a[p * lda + i]
  int64_t lda;
  bool across;
  const float* b;  // panels of `width` columns, `panel` apart, each stored row by row
  int64_t panel;
  float* c;  // its rows hold whole panels
  int64_t ldc;
  bool add;
};
// exp is 0 below: in f32 it would be denormal.
inline constexpr float kLeastExponent = -87.33f;
struct AttentionFns {
  int64_t width;  // columns of a panel
  void (*product)(const BlockProduct& t);
  // A row of scores joins those seen before: exp(s - most) in place; what was summed before is to be multiplied by the
  // result.
  float (*join_scores)(float* s, int64_t n, float* most, float* total);
  // s = exp(s - lse), the weights; g = s (g - delta), the gradient of the scores.
  void (*score_gradient)(float* s, float* g, float lse, float delta, int64_t n);
  void (*add_row)(float* y, const float* x, int64_t n);
  void (*choose_row)(float* y, const uint8_t* keep, float otherwise, int64_t n);
  float (*dot)(const float* x, const float* y, int64_t n);
  void (*dots)(float* y, const float* x, const float* m, int64_t ldm, int64_t rows, int64_t n);
  void (*weighted_rows)(float* y, const float* x, const float* m, int64_t ldm, int64_t rows, int64_t n);
};

// One plane of a depthwise convolution with stride 1: y[i, j] = sum w[u, v] x[i + u dh, j + v dw]. x has `pitch`
// elements a row and holds its padding.
template <class T>
using DepthwiseFn = void (*)(T* y, int64_t out_h, int64_t out_w, const T* x, int64_t pitch, const T* w, int64_t kh,
                             int64_t kw, int64_t dh, int64_t dw);

// A 3x3 convolution with stride 1 by Winograd's algorithm, for one chunk of tiles: numbers first ... first + tiles,
// counted over all images, row by row. Images are dense, channels first (isa_winograd_first.h) or last
// (isa_winograd_last.h).
struct WinogradTask {
  const float* x;
  int64_t channels, height, width, pad_top, pad_left;
  const float* u;                   // transformed filters: [36][block of filters][channel][filter of the block]
  int64_t filters, padded_filters;  // padded to whole blocks
  float* y;
  int64_t out_h, out_w;
  const float* bias;      // per filter, or null
  const float* residual;  // as y, added to it; or null
  bool relu;
  int64_t tiles_x, tiles_y;  // of one image
  int64_t first, tiles;
  const float* zeros;        // a vector of them
  float *v, *m;              // 36 matrices each: transformed inputs, products
  int64_t row;               // floats of a matrix for each channel or filter: of v and m
  int64_t v_pitch, m_pitch;  // from one matrix to the next
};
// In three steps, each of which threads may share. Where lanes are tiles (channels first) the matrices are channels by
// tiles and filters by tiles, a part is a channel or a filter; where lanes are channels (last; whole vectors of
// channels and filters) they are tiles by channels and tiles by filters, and a part is a tile.
struct WinogradFns {
  int64_t filters, tiles;  // that a product takes at once
  int64_t lanes;           // of a vector
  bool lanes_are_tiles;
  void (*input)(const WinogradTask& t, int64_t first_part, int64_t last_part);
  // Of 36 * blocks, one number's blocks after the other's. m[n] may lie where v[n - 1] was.
  void (*product)(const WinogradTask& t, int64_t first_job, int64_t last_job);
  void (*output)(const WinogradTask& t, int64_t first_part, int64_t last_part);
};

// Filters of 3x3 convolutions to 36 planes, `plane` floats apart: u[channel][lane]. g has them with lanes side by side:
// g[9 * channel + i][lane], rows of whole kFilterLanes.
constexpr int64_t kFilterLanes = 8;
struct WinogradFilters {
  const float* g;
  int64_t pitch, channels, lanes;
  float* u;
  int64_t plane;
};

// to[row][filter] = from[filter][row] scale[filter]; without a scale, as it is.
struct FilterTurn {
  const float* from;
  int64_t from_pitch;
  float* to;
  int64_t to_pitch;
  int64_t rows, filters;
  const float* scale;
};

struct RowTable {
  RowFns<float> f32;
  RowFns<double> f64;
  GemmFns<float> gemm_f32;
  GemmFns<double> gemm_f64;
  DepthwiseFn<float> depthwise_f32;
  DepthwiseFn<double> depthwise_f64;
  PanelFns panel;
  SmallProductFn small_product;
  AcrossFns across;
  WinogradFns winograd_first, winograd_last;  // channels first, last
  AttentionFns attention;
  void (*winograd_filters)(const WinogradFilters& f);
  void (*turn_filters)(const FilterTurn& t);
};

const RowTable& row_table();  // for cpu_isa()

template <class T>
const RowFns<T>& row_fns() {
  if constexpr (sizeof(T) == 4)
    return row_table().f32;
  else
    return row_table().f64;
}

namespace detail {
namespace base {
RowTable table();
}
namespace avx2 {
RowTable table();
}
namespace avx512 {
RowTable table();
}
}  // namespace detail

}  // namespace paddle::rows
