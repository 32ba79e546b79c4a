// Rules of ops/random.yaml, in the order of the records.
#include "phi/rules_random.h"

#include "phi/rules/infer.h"

namespace paddle::rules {

void truncated_gaussian_random::shape(const Args& a, TensorMeta& out) {
  for (int64_t d : a.shape) {
    check(d >= 0, ErrorKind::kValue, "[truncated_gaussian_random] expected sizes of at least 0, got {}", d);
    out.shape.push_back(Dim(d));
  }
}

void multinomial::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("multinomial", "x", a.x, 1, 2);
  int64_t n = infer::number_of("multinomial", a.num_samples, "num_samples");
  check(n > 0, ErrorKind::kValue, "[multinomial] expected num_samples above 0, got {}", n);
  Dim categories = a.x.dim(-1);
  check(a.replacement || !less(categories, Dim(n)), ErrorKind::kValue,
        "[multinomial] expected at most {} samples without replacement, got {}", categories.str(), n);
  if (a.x.rank() == 2) out.shape.push_back(a.x.dim(0));
  out.shape.push_back(Dim(n));
}

void dirichlet::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("dirichlet", "alpha", a.alpha, 1, 64);
  out.shape = a.alpha.shape();
}

}  // namespace paddle::rules
