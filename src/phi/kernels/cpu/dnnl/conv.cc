#include "phi/kernels/cpu/dnnl/conv.h"

#include <algorithm>

#include "base/error.h"
#include "phi/kernels/cpu/dnnl/runtime.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/kernels/registry.h"

namespace paddle::kernels {
namespace {

using onednn::Cache;
using onednn::Key;
using Dims = dnnl::memory::dims;
using Desc = dnnl::memory::desc;

struct Problem {
  Desc src, weights, dst;  // as the tensors lie in memory
  Desc any_src, any_weights, any_dst;
  Dims strides, dilations, left, right;
};

// Logical dims are always n, c, spatial; channels-last tensors differ in strides only.
Desc activation(const Tensor& t, bool channels_last) {
  Dims dims = onednn::dims_of(t), strides(t.strides().begin(), t.strides().end());
  if (channels_last) {
    auto to_second = [](Dims& d) { std::rotate(d.begin() + 1, d.end() - 1, d.end()); };
    to_second(dims);
    to_second(strides);
  }
  return {dims, onednn::data_type(t.dtype()), strides};
}

// oneDNN describes permuted axes and gaps between them, but no axis that repeats elements or runs backwards.
Tensor describable(const Tensor& t) {
  std::vector<std::pair<int64_t, int64_t>> axes;  // stride, size
  for (int64_t i = 0; i < t.rank(); ++i) axes.emplace_back(t.strides()[static_cast<size_t>(i)], t.size(i));
  std::sort(axes.begin(), axes.end());
  int64_t reach = 1;
  for (auto [stride, size] : axes) {
    if (stride < reach) return dense(t);
    reach = stride * std::max<int64_t>(size, 1);
  }
  return t;
}

// With groups oneDNN has an axis of its own for them in front.
Desc filter_desc(const Tensor& w, int64_t groups) {
  Desc plain = onednn::plain_desc(w);
  if (groups == 1) return plain;
  Dims dims = plain.get_dims(), strides = plain.get_strides();
  dims[0] /= groups;
  strides.insert(strides.begin(), strides[0] * dims[0]);
  dims.insert(dims.begin(), groups);
  return {dims, plain.get_data_type(), strides};
}

Desc any_of(const Desc& d) { return {d.get_dims(), d.get_data_type(), dnnl::memory::format_tag::any}; }

Problem describe(const Tensor& src, const Tensor& weights, const Tensor& dst, const ConvGeometry& g) {
  Problem p;
  p.src = activation(src, g.channels_last);
  p.weights = filter_desc(weights, g.groups);
  p.dst = activation(dst, g.channels_last);
  p.any_src = any_of(p.src);
  p.any_weights = any_of(p.weights);
  p.any_dst = any_of(p.dst);
  p.strides = g.strides;
  for (int64_t d : g.dilations) p.dilations.push_back(d - 1);
  p.left = g.pad_left;
  p.right = g.pad_right;
  return p;
}

Key key_of(char kind, const Tensor& a, const Tensor& b, const Tensor& c, const ConvGeometry& g) {
  Key k(kind);
  k.add(a)
      .add(b)
      .add(c)
      .add(g.strides)
      .add(g.dilations)
      .add(g.pad_left)
      .add(g.pad_right)
      .add(g.groups)
      .add(g.channels_last);
  return k;
}

constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;

dnnl::convolution_forward::primitive_desc forward_desc(const Problem& p, dnnl::prop_kind kind) {
  return {onednn::engine(), kind,      kAlgorithm,  p.any_src, p.any_weights,
          p.any_dst,        p.strides, p.dilations, p.left,    p.right};
}

// A buffer in the layout that the primitive writes; the tensor's own memory where that is the layout.
struct Target {
  Target(const Desc& plain, const Desc& wanted, void* data) : plain_(onednn::memory_of(plain, data)) {
    if (plain == wanted) {
      memory = plain_;
      return;
    }
    storage_ = Storage::allocate(wanted.get_size(), Place::cpu());
    memory = onednn::memory_of(wanted, storage_->data());
  }
  void finish() {
    if (!storage_) return;
    onednn::reorder_into(memory, plain_);
  }
  dnnl::memory memory;

 private:
  dnnl::memory plain_;
  Ref<Storage> storage_;
};

struct Forward {
  Problem problem;
  dnnl::convolution_forward::primitive_desc desc;
  dnnl::convolution_forward primitive;
};
struct BackwardData {
  Problem problem;
  dnnl::convolution_backward_data::primitive_desc desc;
  dnnl::convolution_backward_data primitive;
};
struct BackwardWeights {
  Problem problem;
  dnnl::convolution_backward_weights::primitive_desc desc;
  dnnl::convolution_backward_weights primitive;
};

}  // namespace

void conv_forward(const Tensor& any_input, const Tensor& any_filter, const Tensor& out, const ConvGeometry& g) {
  auto again = [&](const Tensor& a, const Tensor& b, const Tensor& c) { conv_forward(a, b, c, g); };
  if (onednn::widened(any_input, any_filter, out, again)) return;
  const Tensor input = describable(any_input), filter = describable(any_filter);
  static thread_local Cache<Forward> cache;
  Forward& f = cache.get(key_of('f', input, filter, out, g), [&] {
    Problem p = describe(input, filter, out, g);
    auto d = forward_desc(p, dnnl::prop_kind::forward_inference);
    return Forward{p, d, dnnl::convolution_forward(d)};
  });
  Ref<Storage> s, w;
  dnnl::memory src = onednn::reordered(onednn::memory_of(f.problem.src, input.data()), f.desc.src_desc(), s);
  dnnl::memory weights =
      onednn::reordered(onednn::memory_of(f.problem.weights, filter.data()), f.desc.weights_desc(), w);
  Target dst(f.problem.dst, f.desc.dst_desc(), out.data());
  f.primitive.execute(onednn::stream(), {{DNNL_ARG_SRC, src}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, dst.memory}});
  dst.finish();
}

namespace {

class BlockedConvolution final : public HeldConvolution {
 public:
  BlockedConvolution(const Tensor& input, const Tensor& any_filter, const Tensor& out, const ConvGeometry& g)
      : channels_last_(g.channels_last), f_(made(input, describable(any_filter), out, g)) {
    const Tensor filter = describable(any_filter);
    Ref<Storage> own;
    dnnl::memory packed =
        onednn::reordered(onednn::memory_of(f_.problem.weights, filter.data()), f_.desc.weights_desc(), own);
    storage_ = own ? own : filter->storage;
    weights_ = packed;
  }

  void run(const Tensor& any_input, const Tensor& out) override {
    const Tensor input = describable(any_input);
    Ref<Storage> s;
    dnnl::memory src =
        onednn::reordered(onednn::memory_of(activation(input, channels_last_), input.data()), f_.desc.src_desc(), s);
    Target dst(activation(out, channels_last_), f_.desc.dst_desc(), out.data());
    f_.primitive.execute(onednn::stream(),
                         {{DNNL_ARG_SRC, src}, {DNNL_ARG_WEIGHTS, weights_}, {DNNL_ARG_DST, dst.memory}});
    dst.finish();
  }

 private:
  static Forward made(const Tensor& input, const Tensor& filter, const Tensor& out, const ConvGeometry& g) {
    Problem p = describe(describable(input), filter, out, g);
    auto d = forward_desc(p, dnnl::prop_kind::forward_inference);
    return Forward{p, d, dnnl::convolution_forward(d)};
  }
  bool channels_last_;
  Forward f_;
  dnnl::memory weights_;
  Ref<Storage> storage_;  // of the weights
};

}  // namespace

std::unique_ptr<HeldConvolution> hold_convolution(const Tensor& input, const Tensor& filter, const Tensor& out,
                                                  const ConvGeometry& g) {
  if (input.dtype() != DType::kFloat32) return nullptr;
  try {
    return std::make_unique<BlockedConvolution>(input, filter, out, g);
  } catch (const dnnl::error&) {
    return nullptr;  // the plain kernel says what is wrong
  }
}

void conv_backward_input(const Tensor& any_grad, const Tensor& any_filter, const Tensor& input_grad,
                         const ConvGeometry& g) {
  auto again = [&](const Tensor& a, const Tensor& b, const Tensor& c) { conv_backward_input(a, b, c, g); };
  if (onednn::widened(any_grad, any_filter, input_grad, again)) return;
  const Tensor out_grad = describable(any_grad), filter = describable(any_filter);
  static thread_local Cache<BackwardData> cache;
  BackwardData& b = cache.get(key_of('d', input_grad, filter, out_grad, g), [&] {
    Problem p = describe(input_grad, filter, out_grad, g);
    auto hint = forward_desc(p, dnnl::prop_kind::forward_training);
    dnnl::convolution_backward_data::primitive_desc d(onednn::engine(), kAlgorithm, p.any_src, p.any_weights, p.any_dst,
                                                      p.strides, p.dilations, p.left, p.right, hint);
    return BackwardData{p, d, dnnl::convolution_backward_data(d)};
  });
  Ref<Storage> s, w;
  dnnl::memory dst = onednn::reordered(onednn::memory_of(b.problem.dst, out_grad.data()), b.desc.diff_dst_desc(), s);
  dnnl::memory weights =
      onednn::reordered(onednn::memory_of(b.problem.weights, filter.data()), b.desc.weights_desc(), w);
  Target src(b.problem.src, b.desc.diff_src_desc(), input_grad.data());
  b.primitive.execute(onednn::stream(),
                      {{DNNL_ARG_DIFF_DST, dst}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DIFF_SRC, src.memory}});
  src.finish();
}

void conv_backward_filter(const Tensor& any_input, const Tensor& any_grad, const Tensor& filter_grad,
                          const ConvGeometry& g) {
  auto again = [&](const Tensor& a, const Tensor& b, const Tensor& c) { conv_backward_filter(a, b, c, g); };
  if (onednn::widened(any_input, any_grad, filter_grad, again)) return;
  const Tensor input = describable(any_input), out_grad = describable(any_grad);
  static thread_local Cache<BackwardWeights> cache;
  BackwardWeights& b = cache.get(key_of('w', input, filter_grad, out_grad, g), [&] {
    Problem p = describe(input, filter_grad, out_grad, g);
    auto hint = forward_desc(p, dnnl::prop_kind::forward_training);
    dnnl::convolution_backward_weights::primitive_desc d(onednn::engine(), kAlgorithm, p.any_src, p.any_weights,
                                                         p.any_dst, p.strides, p.dilations, p.left, p.right, hint);
    return BackwardWeights{p, d, dnnl::convolution_backward_weights(d)};
  });
  Ref<Storage> s, w;
  dnnl::memory src = onednn::reordered(onednn::memory_of(b.problem.src, input.data()), b.desc.src_desc(), s);
  dnnl::memory dst = onednn::reordered(onednn::memory_of(b.problem.dst, out_grad.data()), b.desc.diff_dst_desc(), w);
  Target weights(b.problem.weights, b.desc.diff_weights_desc(), filter_grad.data());
  b.primitive.execute(onednn::stream(),
                      {{DNNL_ARG_SRC, src}, {DNNL_ARG_DIFF_DST, dst}, {DNNL_ARG_DIFF_WEIGHTS, weights.memory}});
  weights.finish();
}

}  // namespace paddle::kernels
