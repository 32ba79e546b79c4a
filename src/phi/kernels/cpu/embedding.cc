// Rows of a table, and their gradient, on the CPU.
#include "base/parallel_for.h"
#include "phi/kernels/cpu/dispatch_type.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/kernels/registry.h"
#include "phi/rules_nn.h"

namespace paddle::kernels {
namespace {

void embedding(OpCall& c) {
  rules::embedding::Args a(c);
  Tensor x = dense(a.x), weight = dense(a.weight);
  int64_t n = x.numel(), rows = weight.size(0);
  size_t bytes = static_cast<size_t>(weight.size(1)) * size_of(weight.dtype());
  char* out = c.out(0).data<char>();
  const char* table = weight.data<char>();
  dispatch_index("embedding", x.dtype(), [&](auto t) {
    const auto* ids = x.data<decltype(t)>();
    for (int64_t i = 0; i < n; ++i) {
      int64_t id = ids[i];
      check(id >= 0 && id < rows, ErrorKind::kValue, "[embedding] expected ids in [0, {}), got {}", rows, id);
      if (id == a.padding_idx)
        std::memset(out + static_cast<size_t>(i) * bytes, 0, bytes);
      else
        std::memcpy(out + static_cast<size_t>(i) * bytes, table + static_cast<size_t>(id) * bytes, bytes);
    }
  });
}

void embedding_grad(OpCall& c) {
  rules::embedding_grad::Args a(c);
  const Tensor& out = c.out(0);
  Tensor x = dense(a.x), g = dense(a.out_grad);
  int64_t n = x.numel(), rows = out.size(0), width = out.size(1);
  dispatch_number("embedding_grad", out.dtype(), [&](auto t) {
    using T = decltype(t);
    dispatch_index("embedding_grad", x.dtype(), [&](auto index) {
      const auto* ids = x.data<decltype(index)>();
      for (int64_t i = 0; i < n; ++i)
        check(ids[i] >= 0 && ids[i] < rows, ErrorKind::kIndex, "[embedding_grad] expected ids in [0, {}), got {}", rows,
              ids[i]);
      // Each thread owns rows of the table, so that the order of addition does not depend on how many there are.
      parallel_for(0, rows, std::max<int64_t>(1, (1 << 15) / std::max<int64_t>(1, width)),
                   [&](int64_t begin, int64_t end) {
                     std::memset(static_cast<void*>(out.data<T>() + begin * width), 0,
                                 static_cast<size_t>((end - begin) * width) * sizeof(T));
                     for (int64_t i = 0; i < n; ++i) {
                       if (ids[i] < begin || ids[i] >= end || ids[i] == a.padding_idx) continue;
                       T* row = out.data<T>() + ids[i] * width;
                       const T* from = g.data<T>() + i * width;
                       for (int64_t j = 0; j < width; ++j)
                         row[j] = from_compute<T>(to_compute(row[j]) + to_compute(from[j]));
                     }
                   });
    });
  });
}

const RegisterCpu registered[] = {{"embedding", embedding}, {"embedding_grad", embedding_grad}};

}  // namespace
}  // namespace paddle::kernels
