#include "phi/kernels/cpu/dnnl/matmul.h"

#include <complex>

#include "base/error.h"
#include "base/parallel_for.h"
#include "phi/kernels/cpu/dnnl/runtime.h"
#include "phi/kernels/cpu/rows/gemm.h"
#include "phi/kernels/cpu/rows/mid_gemm.h"
#include "phi/kernels/cpu/rows/small_gemm.h"
#include "phi/kernels/registry.h"

namespace paddle::kernels {
namespace {

// A matrix as GEMM wants it: unit stride along one axis, the leading dimension along the other.
struct Matrix {
  const char* data;
  int64_t rows, cols, row_stride, col_stride;
  // As it lies, or as the transpose of what lies there. A stride along an axis of size 1 says nothing; a stride of 0
  // (an expanded tensor) is neither.
  bool plain() const { return (col_stride == 1 || cols == 1) && (rows == 1 || row_stride >= cols); }
  bool transposed() const { return !plain(); }
  bool gemm_ready() const { return plain() || ((row_stride == 1 || rows == 1) && (cols == 1 || col_stride >= rows)); }
  int64_t leading() const {
    int64_t least = std::max<int64_t>(transposed() ? rows : cols, 1);
    if (transposed()) return cols == 1 ? least : std::max(col_stride, least);
    return rows == 1 ? least : std::max(row_stride, least);
  }
};

Matrix last_two(const Tensor& t) {
  size_t r = t.shape().size();
  return {static_cast<const char*>(t.data()), t.size(-2), t.size(-1), t.strides()[r - 2], t.strides()[r - 1]};
}

Tensor packed(const Tensor& t) {
  Tensor out = Tensor::empty(t.shape(), t.dtype(), t.place());
  copy_elements(out, t);
  return out;
}

bool awkward(const Tensor& t) {
  Matrix m = last_two(t);
  bool unit = m.col_stride == 1 || m.row_stride == 1 || m.rows == 1 || m.cols == 1;
  return !unit || !m.gemm_ready();
}

rows::MatrixF32 strided(const Matrix& m) {
  return {reinterpret_cast<const float*>(m.data), m.rows, m.cols, m.row_stride, m.col_stride};
}

bool by_small_kernel(const Matrix& a, const Matrix& b, float* c) {
  if (!rows::small_gemm_pays(strided(a), strided(b))) return false;
  rows::small_gemm(strided(a), strided(b), c);
  return true;
}

void gemm_f32(const Matrix& a, const Matrix& b, float* c, int64_t n) {
  if (by_small_kernel(a, b, c)) return;
  if (rows::gemm_pays(strided(a), strided(b))) return rows::gemm(strided(a), strided(b), c);
  if (rows::mid_gemm_pays(strided(a), strided(b))) return rows::mid_gemm(strided(a), strided(b), c);
  char ta = a.transposed() ? 'T' : 'N', tb = b.transposed() ? 'T' : 'N';
  auto status = dnnl_sgemm(ta, tb, a.rows, n, a.cols, 1.0f, reinterpret_cast<const float*>(a.data), a.leading(),
                           reinterpret_cast<const float*>(b.data), b.leading(), 0.0f, c, n);
  PD_INVARIANT(status == dnnl_success);
}

// The number of leading axes over which both operands are one matrix: [b, s, k] x [k, n] is [b*s, k] x [k, n].
bool folds(const Tensor& x, const Tensor& y) {
  if (y.rank() != 2) return false;
  for (int64_t i = 0; i + 2 < x.rank(); ++i)
    if (x.strides()[static_cast<size_t>(i)] != x.strides()[static_cast<size_t>(i + 1)] * x.size(i + 1)) return false;
  return true;
}

struct Product {
  dnnl::matmul primitive;
  dnnl::memory::desc x, y, out;
};

int64_t batches_of(const Tensor& out) { return out.numel() / (out.size(-1) * out.size(-2)); }

// fn(a, b, c) for batches first ... last of the result. Batch axes of size 1 broadcast.
template <class F>
void for_each_batch(const Tensor& x, const Tensor& y, const Tensor& out, int64_t first, int64_t last, F&& fn) {
  const auto size = static_cast<int64_t>(size_of(out.dtype()));
  const int64_t batch_rank = out.rank() - 2, matrix = out.size(-1) * out.size(-2);
  auto* c = static_cast<char*>(out.data());
  for (int64_t b = first; b < last; ++b) {
    Matrix mx = last_two(x), my = last_two(y);
    int64_t rest = b;
    for (int64_t axis = batch_rank - 1; axis >= 0; --axis) {
      const int64_t i = rest % out.size(axis);
      rest /= out.size(axis);
      auto shift = [&](Matrix& m, const Tensor& tensor) {
        const int64_t own = axis - (out.rank() - tensor.rank());
        if (own >= 0 && tensor.size(own) != 1) m.data += i * tensor.strides()[static_cast<size_t>(own)] * size;
      };
      shift(mx, x);
      shift(my, y);
    }
    fn(mx, my, c + b * matrix * size);
  }
}

// Batches of small matrices by the kernels for single ones: threads share the batches.
bool small_batches(const Tensor& x, const Tensor& y, const Tensor& out) {
  const Matrix a = last_two(x), b = last_two(y);
  if (!rows::small_gemm_pays(strided(a), strided(b))) return false;
  constexpr int64_t kWork = 1 << 18;  // multiplications from which another thread pays
  const int64_t work = std::max<int64_t>(1, a.rows * a.cols * b.cols);
  parallel_for(0, batches_of(out), std::max<int64_t>(1, kWork / work), [&](int64_t first, int64_t last) {
    for_each_batch(x, y, out, first, last, [](const Matrix& m, const Matrix& n, char* c) {
      rows::small_gemm(strided(m), strided(n), reinterpret_cast<float*>(c));
    });
  });
  return true;
}

// Batched and low-precision products. Batch axes of size 1 broadcast inside oneDNN.
void by_primitive(const Tensor& x, const Tensor& y, const Tensor& out) {
  using namespace onednn;
  static thread_local Cache<Product> cache;
  Key key('m');
  key.add(x).add(y).add(out);
  Product& p = cache.get(key, [&] {
    auto lifted = [&](const Tensor& t) {
      dnnl::memory::dims dims, strides;
      for (int64_t i = t.rank(); i < out.rank(); ++i) {
        dims.push_back(1);
        strides.push_back(t.numel());
      }
      for (int64_t i = 0; i < t.rank(); ++i) {
        dims.push_back(t.size(i));
        strides.push_back(t.strides()[static_cast<size_t>(i)]);
      }
      return dnnl::memory::desc(dims, data_type(t.dtype()), strides);
    };
    Product made;
    made.x = lifted(x);
    made.y = lifted(y);
    made.out = lifted(out);
    made.primitive = dnnl::matmul(dnnl::matmul::primitive_desc(engine(), made.x, made.y, made.out));
    return made;
  });
  p.primitive.execute(stream(), {{DNNL_ARG_SRC, memory_of(p.x, x.data())},
                                 {DNNL_ARG_WEIGHTS, memory_of(p.y, y.data())},
                                 {DNNL_ARG_DST, memory_of(p.out, out.data())}});
}

// For dtypes that oneDNN does not multiply; integers wrap around, which only unsigned sums may. Rows of the result in
// parallel; the inner loop runs along a row of y.
template <class T, class Acc = T>
void blocked(const Matrix& a, const Matrix& b, T* c, int64_t n) {
  const T* x = reinterpret_cast<const T*>(a.data);
  const T* y = reinterpret_cast<const T*>(b.data);
  constexpr int64_t kBlock = 64;
  parallel_for(0, a.rows, std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(1, n * a.cols)),
               [&](int64_t begin, int64_t end) {
                 std::vector<Acc> row(static_cast<size_t>(n));
                 for (int64_t i = begin; i < end; ++i) {
                   std::fill(row.begin(), row.end(), Acc{});
                   for (int64_t k0 = 0; k0 < a.cols; k0 += kBlock) {
                     int64_t k1 = std::min(a.cols, k0 + kBlock);
                     for (int64_t k = k0; k < k1; ++k) {
                       Acc v = static_cast<Acc>(x[i * a.row_stride + k * a.col_stride]);
                       const T* line = y + k * b.row_stride;
                       if (b.col_stride == 1)
                         for (int64_t j = 0; j < n; ++j) row[static_cast<size_t>(j)] += v * static_cast<Acc>(line[j]);
                       else
                         for (int64_t j = 0; j < n; ++j)
                           row[static_cast<size_t>(j)] += v * static_cast<Acc>(line[j * b.col_stride]);
                     }
                   }
                   for (int64_t j = 0; j < n; ++j) c[i * n + j] = static_cast<T>(row[static_cast<size_t>(j)]);
                 }
               });
}

// oneDNN has no f64: our own kernel where packing pays, else a row at a time.
void gemm_f64(const Matrix& a, const Matrix& b, double* c, int64_t n) {
  if (a.rows < 4 || a.cols < 4 || n < 8 || a.rows * a.cols * n < 4096) return blocked<double>(a, b, c, n);
  auto matrix = [](const Matrix& m, int64_t cols) {
    return rows::MatrixF64{reinterpret_cast<const double*>(m.data), m.rows, cols, m.row_stride, m.col_stride};
  };
  rows::gemm(matrix(a, a.cols), matrix(b, n), c);
}

void one_matrix(DType t, const Matrix& a, const Matrix& b, void* c, int64_t n) {
  switch (t) {
    case DType::kFloat32:
      return gemm_f32(a, b, static_cast<float*>(c), n);
    case DType::kFloat64:
      return gemm_f64(a, b, static_cast<double*>(c), n);
    case DType::kComplex64:
      return blocked<std::complex<float>>(a, b, static_cast<std::complex<float>*>(c), n);
    case DType::kComplex128:
      return blocked<std::complex<double>>(a, b, static_cast<std::complex<double>*>(c), n);
    case DType::kInt32:
      return blocked<int32_t, uint32_t>(a, b, static_cast<int32_t*>(c), n);
    case DType::kInt64:
      return blocked<int64_t, uint64_t>(a, b, static_cast<int64_t*>(c), n);
    case DType::kInt16:
      return blocked<int16_t, uint32_t>(a, b, static_cast<int16_t*>(c), n);
    case DType::kInt8:
      return blocked<int8_t, uint32_t>(a, b, static_cast<int8_t*>(c), n);
    case DType::kUInt8:
      return blocked<uint8_t, uint32_t>(a, b, static_cast<uint8_t*>(c), n);
    default:
      fail(ErrorKind::kType, "[matmul] has no kernel for {}", name_of(t));
  }
}

}  // namespace

void matmul(const Tensor& x_in, const Tensor& y_in, const Tensor& out) {
  Tensor x = x_in, y = y_in;
  int64_t n = out.numel();
  if (n == 0) return;
  if (x.size(-1) == 0) {
    std::memset(out.data(), 0, static_cast<size_t>(n) * size_of(out.dtype()));
    return;
  }
  if (onednn::widened(x, y, out, matmul)) return;
  if (awkward(x)) x = packed(x);
  if (awkward(y)) y = packed(y);
  DType t = x.dtype();
  bool low = t == DType::kBFloat16 || t == DType::kFloat16;
  if (!low && folds(x, y)) {
    Matrix a = last_two(x);
    // Unit stride along k, or there is nothing to fold: the rows of all batches are one matrix.
    if (x.rank() == 2 || a.col_stride == 1) {
      a.rows = x.numel() / a.cols;
      return one_matrix(t, a, last_two(y), out.data(), out.size(-1));
    }
  }
  if (t == DType::kFloat32 && small_batches(x, y, out)) return;
  if (low || t == DType::kFloat32) return by_primitive(x, y, out);
  for_each_batch(x, y, out, 0, batches_of(out),
                 [&](const Matrix& a, const Matrix& b, char* c) { one_matrix(t, a, b, c, out.size(-1)); });
}

Tensor matrix_view(const Tensor& t, bool transpose, bool left) {
  Shape shape = t.shape();
  Strides strides = t.strides();
  if (shape.size() == 1) {
    int64_t n = shape[0].value(), s = strides[0];
    shape = left ? Shape{Dim(1), Dim(n)} : Shape{Dim(n), Dim(1)};
    strides = left ? Strides{n, s} : Strides{s, 1};
    if (left && s == 1) strides[0] = n;
    return t.as_view(shape, strides, t->offset);
  }
  if (!transpose) return t;
  size_t r = shape.size();
  std::swap(shape[r - 1], shape[r - 2]);
  std::swap(strides[r - 1], strides[r - 2]);
  return t.as_view(shape, strides, t->offset);
}

namespace {

// Two matrices of f32, small ones: there the views and tensors that the general way makes take as long as the product.
bool two_small_matrices(OpCall& c) {
  const Tensor &x = c.tensor(0), &y = c.tensor(1);
  if (x.dtype() != DType::kFloat32 || y.dtype() != DType::kFloat32 || x.rank() != 2 || y.rank() != 2) return false;
  if (x.numel() == 0 || y.numel() == 0) return false;
  Matrix a = last_two(x), b = last_two(y);
  auto turn = [](Matrix& m) {
    std::swap(m.rows, m.cols);
    std::swap(m.row_stride, m.col_stride);
  };
  if (c.args[2].b()) turn(a);
  if (c.args[3].b()) turn(b);
  return by_small_kernel(a, b, c.out(0).data<float>());
}

void matmul_kernel(OpCall& c) {
  if (two_small_matrices(c)) return;
  Tensor x = matrix_view(c.tensor(0), c.args[2].b(), true);
  Tensor y = matrix_view(c.tensor(1), c.args[3].b(), false);
  const Tensor& out = c.out(0);
  // The result with the axes that vectors lost.
  Shape shape;
  size_t rank = std::max(x.shape().size(), y.shape().size());
  for (size_t i = 0; i + 2 < rank; ++i) {
    auto dim = [&](const Tensor& t) {
      int64_t own = static_cast<int64_t>(i) - static_cast<int64_t>(rank) + t.rank();
      return own >= 0 ? t.size(own) : int64_t{1};
    };
    int64_t a = dim(x), b = dim(y);
    shape.push_back(Dim(a == 1 ? b : a));
  }
  shape.push_back(x.dim(-2));
  shape.push_back(y.dim(-1));
  matmul(x, y, out.as_view(shape, contiguous_strides(shape), out->offset));
}

RegisterCpu matmul_registered("matmul", matmul_kernel);

}  // namespace
}  // namespace paddle::kernels
