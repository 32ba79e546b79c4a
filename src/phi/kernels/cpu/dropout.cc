// Dropout on the CPU.
#include "api/shard.h"
#include "base/parallel_for.h"
#include "phi/kernels/cpu/dispatch_type.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/kernels/cpu/random.h"
#include "phi/kernels/registry.h"
#include "phi/rules_nn.h"

namespace paddle::kernels {
namespace {

void dropout(OpCall& c) {
  rules::dropout::Args a(c);
  double p = a.p.to_double();
  check(p >= 0 && p <= 1, ErrorKind::kValue, "[dropout] expected a probability in [0, 1], got {}", p);
  bool upscale = a.mode == "upscale_in_train";
  const Tensor &out = c.out(0), &mask = c.out(1);
  Tensor x = dense(a.x);
  uint8_t* pm = mask.data<uint8_t>();
  double factor = a.is_test ? (upscale ? 1.0 : 1.0 - p) : (upscale && p < 1 ? 1.0 / (1.0 - p) : 1.0);
  RandomKey key = c.key;
  if (a.fix_seed) key = {static_cast<uint64_t>(a.seed), 0};
  LogicalIndex logical(x.shape());
  dispatch_float("dropout", x.dtype(), [&](auto t) {
    using T = decltype(t);
    const T* px = x.data<T>();
    T* po = out.data<T>();
    parallel_for(0, x.numel(), 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        bool keep = a.is_test || uniform_at(key, logical(static_cast<uint64_t>(i))) >= p;
        pm[i] = keep;
        po[i] = keep ? from_compute<T>(to_compute(px[i]) * static_cast<Accumulator<T>>(factor)) : from_compute<T>(0);
      }
    });
  });
}

const RegisterCpu registered{"dropout", dropout};

}  // namespace
}  // namespace paddle::kernels
