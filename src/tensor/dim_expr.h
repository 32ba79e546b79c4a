// Inside of Dim: the table of interned expressions and the polynomial form in which sums and products are kept.
#pragma once
#include <optional>

#include "tensor/dim.h"

namespace paddle::dim_detail {

// coefficient * product of atoms (symbols, quotients, remainders, minima, maxima), atoms sorted.
struct Term {
  int64_t coefficient = 1;
  std::vector<Dim> atoms;
};
// Sum of terms with distinct atoms, in canonical order; the constant term (no atoms) comes last.
using Poly = std::vector<Term>;

int compare(Dim a, Dim b);  // a total order on expressions that doesn't depend on when they were made
Dim intern(DimOp op, std::vector<Dim> operands);
int64_t symbols_made();  // so far; the ids of those to come start here

Poly poly_of(Dim d);
Dim dim_of(const Poly& p);
Poly add(const Poly& a, const Poly& b, int64_t scale = 1);  // a + scale * b
Poly multiply(const Poly& a, const Poly& b);
std::optional<Poly> divide_exactly(const Poly& a, const Poly& b);  // empty if there is a remainder

// What is known about a value whatever the symbols (each >= 2) are; the ends saturate.
struct Range {
  static constexpr int64_t kInf = INT64_MAX;
  int64_t lo = -kInf, hi = kInf;
};
Range range_of(Dim d);

int64_t checked_add(int64_t a, int64_t b);  // ValueError on overflow
int64_t checked_mul(int64_t a, int64_t b);
int64_t floor_div_int(int64_t a, int64_t b);  // ValueError for b == 0
int64_t mod_int(int64_t a, int64_t b);

}  // namespace paddle::dim_detail
