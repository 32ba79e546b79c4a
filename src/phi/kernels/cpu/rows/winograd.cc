#include "phi/kernels/cpu/rows/winograd.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/parallel_for.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/kernels/cpu/rows/row_table.h"
#include "phi/kernels/cpu/rows/winograd_parts.h"

namespace paddle::kernels {

using namespace winograd;
using rows::WinogradTask;

WinogradFilter::WinogradFilter(const Tensor& any)
    : u_(nullptr, std::free),
      filters_(any.size(0)),
      channels_(any.size(1)),
      block_(rows::row_table().winograd.filters) {
  const Tensor filter = any.is_contiguous() ? any : dense(any);
  const int64_t blocks = up(filters_, block_) / block_, size = blocks * block_ * 36 * channels_;
  float* u = zeros(size);
  u_.reset(u);
  const float* w = filter.data<float>();
  for (int64_t k = 0; k < filters_; ++k)
    for (int64_t c = 0; c < channels_; ++c) {
      double t[36];
      transformed(w + (k * channels_ + c) * 9, t);
      for (int64_t n = 0; n < 36; ++n)
        u[((k / block_ * 36 + n) * channels_ + c) * block_ + k % block_] = static_cast<float>(t[n]);
    }
}

void WinogradFilter::run(const Tensor& any, const Tensor& out, int64_t pad_top, int64_t pad_left,
                         const WinogradFollow& follow) const {
  const rows::WinogradFns& fns = rows::row_table().winograd;
  PD_INVARIANT(fns.filters == block_);
  const Tensor x = any.is_contiguous() ? any : dense(any);
  WinogradTask t{};
  t.x = x.data<float>();
  t.channels = channels_;
  t.height = x.size(2);
  t.width = x.size(3);
  t.pad_top = pad_top;
  t.pad_left = pad_left;
  t.u = u_.get();
  t.filters = filters_;
  t.y = out.data<float>();
  t.out_h = out.size(2);
  t.out_w = out.size(3);
  t.bias = follow.bias ? follow.bias->data<float>() : nullptr;
  t.residual = follow.residual ? follow.residual->data<float>() : nullptr;
  t.relu = follow.relu;
  t.tiles_x = up(t.out_w, 4) / 4;
  t.tiles_y = up(t.out_h, 4) / 4;
  t.phase_pitch = up(t.tiles_x + 1, fns.lanes) + fns.lanes;
  // Rows of tiles per task: two vectors' worth, less where threads would wait for each other.
  const int64_t all = x.size(0) * t.tiles_y;
  const int64_t fill = std::max<int64_t>(1, (channels_ >= 256 ? 1 : 2) * fns.lanes / t.tiles_x);
  const int64_t fair = std::max<int64_t>(1, all / (4 * num_threads()));
  const int64_t step = num_threads() == 1 ? fill : std::min(fill, std::max(fair, fill / 2));
  parallel_for(0, (all + step - 1) / step, 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      WinogradTask own = t;
      own.first_row = k * step;
      own.rows = std::min(step, all - own.first_row);
      fns.run(own, scratch(fns.scratch(own)));
    }
  });
}

bool winograd_pays(const Tensor& x, const Tensor& filter, const Tensor& out) {
  const int64_t lanes = rows::row_table().winograd.lanes;
  const int64_t filters = filter.size(0), channels = filter.size(1);
  if (channels < 8 || filters < 8 || out.numel() == 0) return false;
  const int64_t tiles_x = up(out.size(3), 4) / 4, rows_of_tiles = x.size(0) * (up(out.size(2), 4) / 4);
  const int64_t per_task = std::max<int64_t>(1, 2 * lanes / tiles_x);
  const int64_t used = up(std::min(per_task, rows_of_tiles) * tiles_x, lanes) *
                       ((rows_of_tiles + per_task - 1) / std::min(per_task, std::max<int64_t>(rows_of_tiles, 1)));
  // Products, against those of the direct sum, with the transformations on top.
  const double ours = 36.0 * static_cast<double>(used) * 1.3, direct = 9.0 * static_cast<double>(out.numel() / filters);
  const bool filters_dominate = 36 * filters * channels * 4 > (4 << 20) && tiles_x * rows_of_tiles < 3 * lanes;
  return ours < direct && !filters_dominate;
}

}  // namespace paddle::kernels
