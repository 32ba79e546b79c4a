#include "phi/kernels/cpu/dnnl/filter_blocks.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/parallel_for.h"
#include "phi/kernels/cpu/rows/row_table.h"

namespace paddle::kernels::onednn {
namespace {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

constexpr int64_t kChannels = 32;   // turned at a time: what they take stays near
constexpr int64_t kWork = 1 << 15;  // elements from which another thread pays

bool of_floats(const Desc& d) {
  return d.get_format_kind() == dnnl::memory::format_kind::blocked &&
         d.get_data_type() == dnnl::memory::data_type::f32 && d.get_submemory_offset() == 0;
}

bool dense_in_order(const Desc& d) {
  if (d.get_inner_nblks() != 0) return false;
  const Dims dims = d.get_dims(), strides = d.get_strides();
  int64_t step = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] != 1 && strides[i] != step) return false;
    step *= dims[i];
  }
  return step > 0;
}

bool in_blocks_of_filters(const Desc& d) {
  if (d.get_inner_nblks() != 1 || d.get_inner_idxs()[0] != 0) return false;
  const Dims dims = d.get_dims(), padded = d.get_padded_dims();
  const int64_t block = d.get_inner_blks()[0];
  return padded[0] == (dims[0] + block - 1) / block * block &&
         std::equal(dims.begin() + 1, dims.end(), padded.begin() + 1);
}

// Where each of the filters' positions lies, from the start of a channel.
std::vector<int64_t> places_of_positions(const Desc& d) {
  const Dims dims = d.get_dims(), strides = d.get_strides();
  std::vector<int64_t> places{0};
  for (size_t i = 2; i < dims.size(); ++i) {
    std::vector<int64_t> next;
    for (int64_t p : places)
      for (int64_t k = 0; k < dims[i]; ++k) next.push_back(p + k * strides[i]);
    places = std::move(next);
  }
  return places;
}

struct Blocks {
  int64_t filters, channels, block, block_stride, channel_stride;
  std::vector<int64_t> places;

  explicit Blocks(const Desc& d)
      : filters(d.get_dims()[0]),
        channels(d.get_dims()[1]),
        block(d.get_inner_blks()[0]),
        block_stride(d.get_strides()[0]),
        channel_stride(d.get_strides()[1]),
        places(places_of_positions(d)) {}
  int64_t count() const { return (filters + block - 1) / block; }
  int64_t positions() const { return static_cast<int64_t>(places.size()); }

  // `turned` has room for kChannels channels and is zero where the last block has no filter.
  void copy(const float* from, const float* scale, float* to, int64_t k, std::vector<float>& turned) const {
    const int64_t there = std::min(block, filters - k * block), step = channels * positions();
    if (there < block) std::fill(turned.begin(), turned.end(), 0.0f);
    for (int64_t c = 0; c < channels; c += kChannels) {
      const int64_t some = std::min(kChannels, channels - c);
      rows::row_table().turn_filters({from + k * block * step + c * positions(), step, turned.data(), block,
                                      some * positions(), there, scale ? scale + k * block : nullptr});
      for (size_t p = 0; p < places.size(); ++p)
        for (int64_t i = 0; i < some; ++i)
          std::memcpy(to + k * block_stride + (c + i) * channel_stride + places[p],
                      turned.data() + (i * positions() + static_cast<int64_t>(p)) * block,
                      static_cast<size_t>(block) * sizeof(float));
    }
  }
};

}  // namespace

bool to_blocks_of_filters(const dnnl::memory& from, const dnnl::memory& to, const float* scale) {
  const Desc a = from.get_desc(), b = to.get_desc();
  if (a.get_ndims() < 3 || !of_floats(a) || !of_floats(b) || !dense_in_order(a) || !in_blocks_of_filters(b))
    return false;
  const Blocks blocks(b);
  const auto* x = static_cast<const float*>(from.get_data_handle());
  auto* y = static_cast<float*>(to.get_data_handle());
  const int64_t size = blocks.channels * blocks.positions() * blocks.block;
  parallel_for(0, blocks.count(), std::max<int64_t>(1, kWork / size), [&](int64_t first, int64_t last) {
    std::vector<float> turned(static_cast<size_t>(kChannels * blocks.positions() * blocks.block));
    for (int64_t k = first; k < last; ++k) blocks.copy(x, scale, y, k, turned);
  });
  return true;
}

}  // namespace paddle::kernels::onednn
