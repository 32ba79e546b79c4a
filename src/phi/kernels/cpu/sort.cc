// Order: sorting, selection, search, distinct elements; index reductions and scans.
#include <algorithm>
#include <numeric>

#include "base/parallel_for.h"
#include "phi/kernels/cpu/dispatch_type.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/kernels/cpu/operand.h"
#include "phi/kernels/cpu/tile/reduce.h"
#include "phi/rules_manipulation.h"
#include "phi/rules_reduction.h"

namespace paddle::kernels {
namespace {

// NaN is larger than everything, as NumPy has it.
template <class V>
bool before(V a, V b) {
  if constexpr (std::is_floating_point_v<V>) return a < b || (b != b && a == a);
  return a < b;
}

// f(line of n values as the compute type, flat start, stride) for every line along an axis.
template <class T, class F>
void each_line(const Tensor& x, int64_t axis, F&& f) {
  AroundAxis a = around(x, axis);
  const T* p = x.data<T>();
  parallel_for(0, a.outer * a.inner, std::max<int64_t>(1, 2048 / std::max<int64_t>(1, a.axis)),
               [&](int64_t begin, int64_t end) {
                 std::vector<Accumulator<T>> line(static_cast<size_t>(a.axis));
                 for (int64_t k = begin; k < end; ++k) {
                   int64_t o = k / a.inner, i = k % a.inner;
                   int64_t start = o * a.axis * a.inner + i;
                   for (int64_t j = 0; j < a.axis; ++j)
                     line[static_cast<size_t>(j)] = to_compute(p[start + j * a.inner]);
                   f(line, o, i, a);
                 }
               });
}

std::vector<int64_t> positions(size_t n) {
  std::vector<int64_t> out(n);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

// The first `count` elements of a line in the given order, with their positions, from flat position `start` on.
template <class T, class Line>
void put_ordered(const Tensor& out, const Tensor& indices, const Line& line, const std::vector<int64_t>& order,
                 int64_t count, int64_t start, int64_t stride) {
  for (int64_t j = 0; j < count; ++j) {
    const int64_t from = order[static_cast<size_t>(j)];
    out.data<T>()[start + j * stride] = from_compute<T>(line[static_cast<size_t>(from)]);
    indices.data<int64_t>()[start + j * stride] = from;
  }
}

void argsort(OpCall& c) {
  rules::argsort::Args a(c);
  Tensor x = dense(a.x);
  const Tensor &out = c.out(0), &indices = c.out(1);
  dispatch_real("argsort", x.dtype(), [&](auto t) {
    using T = decltype(t);
    each_line<T>(x, a.axis, [&](auto& line, int64_t o, int64_t i, const AroundAxis& g) {
      std::vector<int64_t> order = positions(line.size());
      auto less = [&](int64_t p, int64_t q) {
        return before(line[static_cast<size_t>(p)], line[static_cast<size_t>(q)]);
      };
      if (a.descending)
        std::stable_sort(order.begin(), order.end(), [&](int64_t p, int64_t q) { return less(q, p); });
      else
        std::stable_sort(order.begin(), order.end(), less);
      put_ordered<T>(out, indices, line, order, g.axis, o * g.axis * g.inner + i, g.inner);
    });
  });
}

void topk(OpCall& c) {
  rules::topk::Args a(c);
  Tensor x = dense(a.x);
  const Tensor &out = c.out(0), &indices = c.out(1);
  if (out.numel() == 0) return;
  int64_t k = a.k.to_int();
  dispatch_real("topk", x.dtype(), [&](auto t) {
    using T = decltype(t);
    each_line<T>(x, a.axis, [&](auto& line, int64_t o, int64_t i, const AroundAxis& g) {
      std::vector<int64_t> order = positions(line.size());
      // Equal values keep their order, so that the answer is one.
      auto first = [&](int64_t p, int64_t q) {
        auto x1 = line[static_cast<size_t>(p)], x2 = line[static_cast<size_t>(q)];
        if (a.largest ? before(x2, x1) : before(x1, x2)) return true;
        if (a.largest ? before(x1, x2) : before(x2, x1)) return false;
        return p < q;
      };
      std::partial_sort(order.begin(), order.begin() + k, order.end(), first);
      put_ordered<T>(out, indices, line, order, k, o * k * g.inner + i, g.inner);
    });
  });
}

void mode(OpCall& c) {
  rules::mode::Args a(c);
  Tensor x = dense(a.x);
  const Tensor &out = c.out(0), &indices = c.out(1);
  dispatch_real("mode", x.dtype(), [&](auto t) {
    using T = decltype(t);
    each_line<T>(x, a.axis, [&](auto& line, int64_t o, int64_t i, const AroundAxis& g) {
      std::vector<int64_t> order = positions(line.size());
      auto value = [&](int64_t k) { return line[static_cast<size_t>(order[static_cast<size_t>(k)])]; };
      std::stable_sort(order.begin(), order.end(), [&](int64_t p, int64_t q) {
        return before(line[static_cast<size_t>(p)], line[static_cast<size_t>(q)]);
      });
      int64_t longest = 0, end = 0;  // of the runs of equal values
      for (int64_t k = 0, begin = 0; k < g.axis; ++k) {
        if (k > 0 && before(value(k - 1), value(k))) begin = k;
        if (k - begin + 1 > longest) {
          longest = k - begin + 1;
          end = k;
        }
      }
      out.data<T>()[o * g.inner + i] = from_compute<T>(value(end));
      indices.data<int64_t>()[o * g.inner + i] = order[static_cast<size_t>(end)];
    });
  });
}

void searchsorted(OpCall& c) {
  rules::searchsorted::Args a(c);
  Tensor sorted = dense(a.sorted_sequence), values = dense(a.values);
  const Tensor& out = c.out(0);
  if (values.numel() == 0) return;
  int64_t n = sorted.rank() ? sorted.size(-1) : 1, m = values.rank() ? values.size(-1) : 1;
  bool shared = sorted.rank() <= 1;
  dispatch_real("searchsorted", sorted.dtype(), [&](auto t) {
    using T = decltype(t);
    auto less = [](T x, T y) { return before(to_compute(x), to_compute(y)); };
    for (int64_t i = 0; i < values.numel(); ++i) {
      const T* row = sorted.data<T>() + (shared ? 0 : i / m * n);
      T v = values.data<T>()[i];
      int64_t at = (a.right ? std::upper_bound(row, row + n, v, less) : std::lower_bound(row, row + n, v, less)) - row;
      if (a.out_int32)
        out.data<int32_t>()[i] = static_cast<int32_t>(at);
      else
        out.data<int64_t>()[i] = at;
    }
  });
}

void write_indices(Tensor& out, const std::vector<int64_t>& values, DType t) {
  out = Tensor::empty({static_cast<int64_t>(values.size())}, t);
  for (size_t i = 0; i < values.size(); ++i) {
    if (t == DType::kInt32)
      out.data<int32_t>()[i] = static_cast<int32_t>(values[i]);
    else
      out.data<int64_t>()[i] = values[i];
  }
}

// Slices along an axis (or single elements), compared lexicographically.
void unique(OpCall& c) {
  rules::unique::Args a(c);
  Tensor x = dense(a.x);
  bool flat = a.axis.empty();
  int64_t axis = flat ? 0 : (a.axis[0] < 0 ? a.axis[0] + x.rank() : a.axis[0]);
  AroundAxis g = flat ? AroundAxis{1, x.numel(), 1} : around(x, axis);
  dispatch_real("unique", x.dtype(), [&](auto t) {
    using T = decltype(t);
    const T* p = x.data<T>();
    auto compare = [&](int64_t i, int64_t j) {
      for (int64_t o = 0; o < g.outer; ++o)
        for (int64_t k = 0; k < g.inner; ++k) {
          auto u = to_compute(p[(o * g.axis + i) * g.inner + k]), v = to_compute(p[(o * g.axis + j) * g.inner + k]);
          if (before(u, v)) return -1;
          if (before(v, u)) return 1;
        }
      return 0;
    };
    std::vector<int64_t> order(static_cast<size_t>(g.axis));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return compare(i, j) < 0; });
    std::vector<int64_t> first, counts, inverse(order.size());
    for (size_t k = 0; k < order.size(); ++k) {
      if (k == 0 || compare(order[k - 1], order[k]) != 0) {
        first.push_back(order[k]);
        counts.push_back(0);
      }
      ++counts.back();
      inverse[static_cast<size_t>(order[k])] = static_cast<int64_t>(first.size()) - 1;
    }
    Shape shape = flat ? Shape{Dim(first.size())} : x.shape();
    if (!flat) shape[static_cast<size_t>(axis)] = Dim(first.size());
    Tensor out = Tensor::empty(shape, x.dtype(), x.place());
    int64_t m = static_cast<int64_t>(first.size());
    for (int64_t o = 0; o < g.outer; ++o)
      for (int64_t i = 0; i < m; ++i)
        std::copy_n(p + (o * g.axis + first[static_cast<size_t>(i)]) * g.inner, g.inner,
                    out.data<T>() + (o * m + i) * g.inner);
    c.out(0) = out;
    DType d = a.dtype;
    write_indices(c.out(1), first, d);
    write_indices(c.out(2), inverse, d);
    write_indices(c.out(3), counts, d);
  });
}

// ---- index reductions and scans: the tile reducer
void arg_reduce(OpCall& c, bool largest) {
  rules::argmax::Args a(c);
  Tensor x = a.flatten ? dense(a.x) : a.x;
  Shape shape = x.shape();
  Strides strides = x.strides();
  if (a.flatten || shape.empty()) {
    shape = Shape{Dim(x.numel())};
    strides = Strides{1};
  }
  int64_t rank = static_cast<int64_t>(shape.size());
  int64_t axis = a.flatten || x.rank() == 0 ? 0 : a.axis.to_int();
  if (axis < 0) axis += rank;
  const Tensor& out = c.out(0);
  Strides out_strides;
  Shape kept = shape;
  kept[static_cast<size_t>(axis)] = Dim(1);
  out_strides = contiguous_strides(kept);
  tile::TileOperand in{x.data(), x.dtype(), strides.data()}, to{out.data(), out.dtype(), out_strides.data()};
  tile::run_arg_reduce(largest, in, to, static_sizes(shape), static_cast<int>(axis));
}

// cumsum and its kin. `exclusive` shifts by one: computed inclusively, then moved.
void scan(const Tensor& x_in, const Tensor& out, const Tensor& indices, tile::Scan kind, int64_t axis, bool flatten,
          bool exclusive, bool reverse, double start) {
  Tensor x = flatten ? dense(x_in) : x_in;
  Shape shape = x.shape();
  Strides strides = x.strides();
  if (flatten || shape.empty()) {
    shape = Shape{Dim(x.numel())};
    strides = Strides{1};
    axis = 0;
  }
  if (axis < 0) axis += static_cast<int64_t>(shape.size());
  Strides dense_strides = contiguous_strides(shape);
  Tensor target = exclusive ? Tensor::empty(shape, out.dtype(), out.place()) : out;
  tile::TileOperand in{x.data(), x.dtype(), strides.data()}, to{target.data(), target.dtype(), dense_strides.data()};
  tile::TileOperand at;
  if (indices.defined()) at = {indices.data(), indices.dtype(), dense_strides.data()};
  tile::run_scan(kind, in, to, indices.defined() ? &at : nullptr, static_sizes(shape), static_cast<int>(axis), reverse);
  if (!exclusive || out.numel() == 0) return;
  size_t k = static_cast<size_t>(axis);
  int64_t n = shape[k].value(), step = dense_strides[k];
  auto part = [&](const Tensor& t, int64_t from, int64_t length) {
    Shape s = shape;
    s[k] = Dim(length);
    return t.as_view(s, dense_strides, t->offset + from * step);
  };
  if (n > 1) copy_elements(part(out, reverse ? 0 : 1, n - 1), part(target, reverse ? 1 : 0, n - 1));
  Operand edge;
  Tensor first = part(out, reverse ? n - 1 : 0, 1);
  tile::run_fill(edge.broadcast(first, first.shape()), tile::ScalarParam(start), static_sizes(first.shape()));
}

void cumsum(OpCall& c) {
  rules::cumsum::Args a(c);
  scan(a.x, c.out(0), {}, tile::Scan::kSum, a.axis.to_int(), a.flatten, a.exclusive, a.reverse, 0);
}
void cumprod(OpCall& c) {
  rules::cumprod::Args a(c);
  scan(a.x, c.out(0), {}, tile::Scan::kProd, a.dim, false, a.exclusive, a.reverse, 1);
}
void cummax(OpCall& c) {
  rules::cummax::Args a(c);
  scan(a.x, c.out(0), c.out(1), tile::Scan::kMax, a.axis, false, false, false, 0);
}
void cummin(OpCall& c) {
  rules::cummin::Args a(c);
  scan(a.x, c.out(0), c.out(1), tile::Scan::kMin, a.axis, false, false, false, 0);
}
void logcumsumexp(OpCall& c) {
  rules::logcumsumexp::Args a(c);
  scan(a.x, c.out(0), {}, tile::Scan::kLogSumExp, a.axis, a.flatten, a.exclusive, a.reverse,
       -std::numeric_limits<double>::infinity());
}

const RegisterCpu registered[] = {{"argsort", argsort},
                                  {"topk", topk},
                                  {"mode", mode},
                                  {"searchsorted", searchsorted},
                                  {"unique", unique},
                                  {"argmax", [](OpCall& c) { arg_reduce(c, true); }},
                                  {"argmin", [](OpCall& c) { arg_reduce(c, false); }},
                                  {"cumsum", cumsum},
                                  {"cumprod", cumprod},
                                  {"cummax", cummax},
                                  {"cummin", cummin},
                                  {"logcumsumexp", logcumsumexp}};

}  // namespace
}  // namespace paddle::kernels
