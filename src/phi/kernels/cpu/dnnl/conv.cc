#include "phi/kernels/cpu/dnnl/conv.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "base/parallel_for.h"
#include "phi/kernels/cpu/dnnl/filter_blocks.h"
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
  Desc any_src, any_weights, any_dst, bias;
  bool residual = false;
  Dims strides, dilations, left, right;
};

// What contiguous memory has, whatever a view says of axes of one element: oneDNN knows layouts by all strides.
Dims strides_of(const Tensor& t) {
  Dims strides(t.strides().begin(), t.strides().end());
  if (!t.is_contiguous()) return strides;
  int64_t step = 1;
  for (int64_t i = t.rank() - 1; i >= 0; --i) {
    strides[static_cast<size_t>(i)] = step;
    step *= std::max<int64_t>(t.size(i), 1);
  }
  return strides;
}

// Logical dims are always n, c, spatial; channels-last tensors differ in strides only.
Desc activation(const Tensor& t, bool channels_last) {
  Dims dims = onednn::dims_of(t), strides = strides_of(t);
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

Key& add_follow(Key& k, const ConvFollow& follow) {
  k.add(follow.bias.defined() ? static_cast<int64_t>(follow.bias.dtype()) : -1);
  return follow.residual.defined() ? k.add(follow.residual) : k.add(int64_t{-1});
}

constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;

dnnl::convolution_forward::primitive_desc forward_desc(const Problem& p, dnnl::prop_kind kind,
                                                       const dnnl::primitive_attr& attr = {}) {
  return {onednn::engine(), kind,      kAlgorithm,  p.any_src, p.any_weights, p.bias,
          p.any_dst,        p.strides, p.dilations, p.left,    p.right,       attr};
}

bool is_reference(const dnnl::primitive_desc_base& d) { return std::string_view(d.impl_info_str()).starts_with("ref"); }

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

Forward forward(const Tensor& input, const Tensor& filter, const Tensor& out, const ConvGeometry& g,
                const ConvFollow& follow) {
  Problem p = describe(input, filter, out, g);
  // Channels last is a layout that convolutions run in; any other one only costs reordering.
  if (g.channels_last && input.is_contiguous()) p.any_src = p.src;
  if (g.channels_last && out.is_contiguous()) p.any_dst = p.dst;
  if (follow.bias.defined()) p.bias = onednn::plain_desc(follow.bias);
  p.residual = follow.residual.defined();
  dnnl::convolution_forward::primitive_desc d = forward_desc(p, dnnl::prop_kind::forward_inference);
  if (is_reference(d)) {  // no layout is worth that
    p.any_src = any_of(p.src);
    p.any_dst = any_of(p.dst);
    d = forward_desc(p, dnnl::prop_kind::forward_inference);
  }
  if (p.residual) {
    dnnl::post_ops ops;
    ops.append_binary(dnnl::algorithm::binary_add, d.dst_desc());
    dnnl::primitive_attr attr;
    attr.set_post_ops(ops);
    p.any_dst = d.dst_desc();
    d = forward_desc(p, dnnl::prop_kind::forward_inference, attr);
  }
  return {p, d, dnnl::convolution_forward(d)};
}

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

void execute(const Forward& f, const Tensor& input, bool channels_last, const dnnl::memory& weights, const Tensor& out,
             const ConvFollow& follow) {
  Ref<Storage> s, r;
  dnnl::memory src =
      onednn::reordered(onednn::memory_of(activation(input, channels_last), input.data()), f.desc.src_desc(), s);
  Target dst(activation(out, channels_last), f.desc.dst_desc(), out.data());
  std::unordered_map<int, dnnl::memory> args{
      {DNNL_ARG_SRC, src}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, dst.memory}};
  if (follow.bias.defined()) args.emplace(DNNL_ARG_BIAS, onednn::memory_of(f.problem.bias, follow.bias.data()));
  if (follow.residual.defined()) {
    const Desc plain = activation(follow.residual, channels_last);
    args.emplace(DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1,
                 onednn::reordered(onednn::memory_of(plain, follow.residual.data()), f.desc.dst_desc(), r));
  }
  f.primitive.execute(onednn::stream(), args);
  dst.finish();
}

ConvFollow describable(const ConvFollow& follow) {
  ConvFollow f = follow;
  if (f.bias.defined()) f.bias = dense(f.bias);
  if (f.residual.defined()) f.residual = describable(f.residual);
  return f;
}

// For dtypes that this processor does not convolve: all in f32, rounded once at the end.
bool widened_forward(const Tensor& input, const Tensor& filter, const Tensor& out, const ConvGeometry& g,
                     const ConvFollow& follow) {
  return onednn::widened(input, filter, out, [&](const Tensor& a, const Tensor& b, const Tensor& c) {
    ConvFollow wide;
    auto widen = [](const Tensor& t, Tensor& to) {
      if (!t.defined()) return;
      to = Tensor::empty(t.shape(), DType::kFloat32, t.place());
      convert_elements(to, t);
    };
    widen(follow.bias, wide.bias);
    widen(follow.residual, wide.residual);
    conv_forward(a, b, c, g, wide);
  });
}

}  // namespace

void conv_forward(const Tensor& any_input, const Tensor& any_filter, const Tensor& out, const ConvGeometry& g,
                  const ConvFollow& any_follow) {
  if (widened_forward(any_input, any_filter, out, g, any_follow)) return;
  const Tensor input = describable(any_input), filter = describable(any_filter);
  const ConvFollow follow = describable(any_follow);
  static thread_local Cache<Forward> cache;
  Key key = key_of('f', input, filter, out, g);
  Forward& f = cache.get(add_follow(key, follow), [&] { return forward(input, filter, out, g, follow); });
  Ref<Storage> w;
  dnnl::memory weights =
      onednn::reordered(onednn::memory_of(f.problem.weights, filter.data()), f.desc.weights_desc(), w);
  execute(f, input, g.channels_last, weights, out, follow);
}

namespace {

// A filter of f32 with each of its filters multiplied by a number of `scale`.
Tensor scaled(const Tensor& any, const Tensor& scale) {
  const Tensor filter = dense(any), out = Tensor::empty(filter.shape(), filter.dtype(), filter.place());
  const int64_t size = filter.numel() / std::max<int64_t>(filter.size(0), 1);
  const float *x = filter.data<float>(), *factors = scale.data<float>();
  auto* y = out.data<float>();
  parallel_for(0, filter.size(0), std::max<int64_t>(1, (1 << 15) / size), [&](int64_t first, int64_t last) {
    for (int64_t i = first * size; i < last * size; ++i) y[i] = x[i] * factors[i / size];
  });
  return out;
}

class BlockedConvolution final : public HeldConvolution {
 public:
  BlockedConvolution(const Tensor& input, const Tensor& any_filter, const Tensor& scale, const Tensor& out,
                     const ConvGeometry& g, const ConvFollow& follow)
      : channels_last_(g.channels_last),
        f_(forward(describable(input), describable(any_filter), out, g, describable(follow))) {
    Tensor filter = describable(any_filter);
    if (scale.defined()) {
      if (scale_into_blocks(filter, dense(scale))) return;
      filter = scaled(filter, dense(scale));
      f_.problem.weights = filter_desc(filter, g.groups);
    }
    Ref<Storage> own;
    weights_ = onednn::reordered(onednn::memory_of(f_.problem.weights, filter.data()), f_.desc.weights_desc(), own);
    storage_ = own ? own : filter->storage;
  }

  void run(const Tensor& input, const Tensor& out, const ConvFollow& follow) override {
    execute(f_, describable(input), channels_last_, weights_, out, describable(follow));
  }

 private:
  bool scale_into_blocks(const Tensor& filter, const Tensor& scale) {
    const Desc wanted = f_.desc.weights_desc();
    storage_ = Storage::allocate(wanted.get_size(), Place::cpu());
    weights_ = onednn::memory_of(wanted, storage_->data());
    const dnnl::memory from = onednn::memory_of(f_.problem.weights, filter.data());
    return onednn::to_blocks_of_filters(from, weights_, scale.data<float>());
  }

  bool channels_last_;
  Forward f_;
  dnnl::memory weights_;
  Ref<Storage> storage_;  // of the weights
};

}  // namespace

std::unique_ptr<HeldConvolution> hold_convolution(const Tensor& input, const Tensor& filter, const Tensor& scale,
                                                  const Tensor& out, const ConvGeometry& g, const ConvFollow& follow) {
  if (!onednn::native(input.dtype())) return nullptr;
  try {
    return std::make_unique<BlockedConvolution>(input, filter, scale, out, g, follow);
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
