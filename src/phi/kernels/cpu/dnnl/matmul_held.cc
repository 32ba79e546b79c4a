// Products with a matrix that stays, and products with what follows them: a number per column, a tensor of the result's
// shape, an activation.
#include <algorithm>
#include <cstring>

#include "base/parallel_for.h"
#include "phi/kernels/cpu/activate.h"
#include "phi/kernels/cpu/dnnl/matmul.h"
#include "phi/kernels/cpu/dnnl/runtime.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/kernels/cpu/rows/row_span.h"
#include "phi/kernels/cpu/rows/row_table.h"
#include "phi/kernels/registry.h"
#include "phi/rules_fused.h"
#include "phi/rules_linalg.h"

namespace paddle::kernels {
namespace {

// Up to so many rows the matrix is read faster than it is multiplied with: as panels, each one stream.
constexpr int64_t kFewRows = 16;

struct Product {
  explicit Product(OpCall& c) : out(c.out(0)) {
    if (c.op.name == "matmul") {
      rules::matmul::Args a(c);
      x = matrix_view(a.x, a.transpose_x, true);
      y = matrix_view(a.y, a.transpose_y, false);
    } else {
      rules::fused_gemm_epilogue::Args a(c);
      x = matrix_view(a.x, a.trans_x, true);
      y = matrix_view(a.y, a.trans_y, false);
      bias = a.bias;
      residual = a.residual;
      activation = a.activation;
    }
  }
  Tensor x, y, bias, residual;
  const Tensor& out;
  std::string_view activation;

  bool follows() const { return bias.defined() || residual.defined() || !activation.empty(); }
  int64_t columns() const { return y.size(-1); }
  int64_t rows() const { return out.numel() / columns(); }
};

// What follows the product, over a result that lies there already.
template <class T>
void follow_rows(const Product& p) {
  const int64_t n = p.columns();
  const Tensor residual = p.residual.defined() ? dense(p.residual) : p.residual;
  const rows::Values<T> bias(p.bias);
  const rows::RowFns<T>& fns = rows::row_fns<T>();
  rows::each_row_range(p.rows(), n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* y = p.out.template data<T>() + i * n;
      if (bias.data()) fns.add_to(y, bias.data(), n);
      if (residual.defined()) fns.add_to(y, residual.template data<T>() + i * n, n);
    }
  });
}

void follow(const Product& p) {
  if (p.bias.defined() || p.residual.defined()) follow_rows<float>(p);
  activate(p.out, p.activation);
}

void gemm_epilogue(OpCall& c) {
  Product p(c);
  if (p.out.numel() == 0) return;
  if (p.out.dtype() != DType::kFloat32) return rows::by_composition(c);
  matmul(p.x, p.y, p.out);
  follow(p);
}

// x with its rows side by side: [.., k] as [rows, k].
Tensor as_rows(const Tensor& t) { return t.rank() == 2 && t.strides()[1] == 1 ? t : dense(t); }
int64_t row_stride(const Tensor& t) { return t.rank() == 2 ? std::max(t.strides()[0], t.size(1)) : t.size(-1); }

// [block of columns][k][column of the block], the last block filled up with zeros. W: float, or bfloat16's bits.
template <class W>
class Panels {
 public:
  explicit Panels(const Tensor& y) : k_(y.size(0)), n_(y.size(1)), width_(rows::row_table().panel.width) {
    const int64_t blocks = (n_ + width_ - 1) / width_;
    storage_ = Storage::allocate(static_cast<size_t>(blocks * k_ * width_) * sizeof(W), Place::cpu());
    parallel_for(0, blocks, std::max<int64_t>(1, (1 << 16) / (k_ * width_)),
                 [&](int64_t first, int64_t last) { fill(y, first, last); });
  }

  // x and out are of float32.
  void run(const Tensor& any, const Tensor& out) const {
    const Tensor x = as_rows(any);
    const int64_t m = out.numel() / n_, ldx = row_stride(x), blocks = (n_ + width_ - 1) / width_;
    const rows::PanelFns& fns = rows::row_table().panel;
    PD_INVARIANT(fns.width == width_ && m <= kFewRows);
    const auto product = [&fns] {
      if constexpr (sizeof(W) == 2)
        return fns.run_bf16;
      else
        return fns.run;
    }();
    const int64_t grain = std::max<int64_t>(1, (1 << 14) / (k_ * width_));
    parallel_for(0, blocks, grain, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const W* panel = data() + b * k_ * width_;
        float* y = out.data<float>() + b * width_;
        if ((b + 1) * width_ <= n_) {
          product(m, k_, x.data<float>(), ldx, panel, y, n_);
          continue;
        }
        float edge[kFewRows * 64];
        product(m, k_, x.data<float>(), ldx, panel, edge, width_);
        for (int64_t i = 0; i < m; ++i)
          std::memcpy(y + i * n_, edge + i * width_, static_cast<size_t>(n_ - b * width_) * sizeof(float));
      }
    });
  }

 private:
  W* data() const { return static_cast<W*>(storage_->data()); }

  // Panels first ... last, some rows at a time: these are read from one end to the other.
  void fill(const Tensor& y, int64_t first, int64_t last) {
    constexpr int64_t kRows = 8;
    for (int64_t p = 0; p < k_; p += kRows)
      for (int64_t b = first; b < last; ++b)
        for (int64_t r = p; r < std::min(k_, p + kRows); ++r) fill_row(y, b, r);
  }

  void fill_row(const Tensor& y, int64_t b, int64_t p) {
    const int64_t across = y.strides()[1], there = std::min(width_, n_ - b * width_);
    const W* row = static_cast<const W*>(y.data()) + p * y.strides()[0] + b * width_ * across;
    W* to = data() + (b * k_ + p) * width_;
    if (across == 1)
      std::memcpy(to, row, static_cast<size_t>(there) * sizeof(W));
    else
      for (int64_t j = 0; j < there; ++j) to[j] = row[j * across];
    std::fill(to + there, to + width_, W(0));
  }

  Ref<Storage> storage_;
  int64_t k_, n_, width_;
};

// In the layout that oneDNN wants for so many rows.
class Packed {
 public:
  Packed(const Product& p, const Tensor& y) : rows_(p.rows()), k_(y.size(0)), n_(y.size(1)) {
    using namespace onednn;
    const auto type = data_type(y.dtype());
    dnnl::memory::desc any({k_, n_}, type, dnnl::memory::format_tag::any);
    desc_ = {engine(), rows_desc(k_, k_), any, rows_desc(n_, n_)};
    Ref<Storage> own;
    weights_ = reordered(memory_of(plain_desc(y), y.data()), desc_.weights_desc(), own);
    gains_ = static_cast<bool>(own);
    storage_ = own;
    primitive_ = dnnl::matmul(desc_);
  }
  bool gains() const { return gains_; }

  void run(const Tensor& any, const Tensor& out) const {
    using namespace onednn;
    const Tensor x = dense(any);
    primitive_.execute(stream(), {{DNNL_ARG_SRC, memory_of(desc_.src_desc(), x.data())},
                                  {DNNL_ARG_WEIGHTS, weights_},
                                  {DNNL_ARG_DST, memory_of(desc_.dst_desc(), out.data())}});
  }

 private:
  dnnl::memory::desc rows_desc(int64_t columns, int64_t pitch) const {
    return {{rows_, columns}, type_, dnnl::memory::dims{pitch, 1}};
  }
  dnnl::memory::data_type type_ = dnnl::memory::data_type::f32;
  int64_t rows_, k_, n_;
  dnnl::matmul::primitive_desc desc_;
  dnnl::matmul primitive_;
  dnnl::memory weights_;
  Ref<Storage> storage_;
  bool gains_ = false;
};

class HeldProduct final : public HeldKernel {
 public:
  void run(OpCall& c) override {
    const Product p(c);
    if (narrow) {
      const Tensor x = Tensor::empty(p.x.shape(), DType::kFloat32, p.x.place());
      const Tensor out = Tensor::empty(p.out.shape(), DType::kFloat32, p.out.place());
      convert_elements(x, p.x);
      narrow->run(x, out);
      convert_elements(p.out, out);
      return;
    }
    panels ? panels->run(p.x, p.out) : packed->run(p.x, p.out);
    follow(p);
  }
  std::unique_ptr<Panels<float>> panels;  // one of the three
  std::unique_ptr<Panels<uint16_t>> narrow;
  std::unique_ptr<Packed> packed;
};

std::unique_ptr<HeldKernel> hold_product(OpCall& c, uint64_t constant) {
  const Product p(c);
  if (!(constant & 2) || p.y.rank() != 2 || p.x.rank() < 2 || p.out.numel() == 0 || p.y.size(0) == 0) return nullptr;
  const DType t = p.out.dtype();
  if (!p.out.is_contiguous()) return nullptr;
  auto held = std::make_unique<HeldProduct>();
  if (t == DType::kBFloat16 && !onednn::native(t) && !p.follows() && p.rows() <= kFewRows) {
    held->narrow = std::make_unique<Panels<uint16_t>>(p.y);
    return held;
  }
  if (t != DType::kFloat32) return nullptr;
  if (p.rows() <= kFewRows) {
    held->panels = std::make_unique<Panels<float>>(p.y);
    return held;
  }
  try {
    const bool plain = p.y.strides()[1] == 1 || p.y.strides()[0] == 1;
    held->packed = std::make_unique<Packed>(p, plain ? p.y : dense(p.y));
  } catch (const dnnl::error&) {
    return nullptr;  // the plain kernel says what is wrong
  }
  if (!held->packed->gains()) return nullptr;
  return held;
}

const RegisterCpu registered{"fused_gemm_epilogue", gemm_epilogue};
const HoldCpu held[] = {{"matmul", hold_product}, {"fused_gemm_epilogue", hold_product}};

}  // namespace
}  // namespace paddle::kernels
