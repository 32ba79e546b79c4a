#include "tensor/dim_expr.h"

#include <algorithm>

#include "base/error.h"

namespace paddle::dim_detail {

int64_t checked_add(int64_t a, int64_t b) {
  int64_t r;
  check(!__builtin_add_overflow(a, b, &r), ErrorKind::kValue, "a size overflows 64 bits: {} + {}", a, b);
  return r;
}

int64_t checked_mul(int64_t a, int64_t b) {
  int64_t r;
  check(!__builtin_mul_overflow(a, b, &r), ErrorKind::kValue, "a size overflows 64 bits: {} * {}", a, b);
  return r;
}

int64_t floor_div_int(int64_t a, int64_t b) {
  check(b != 0, ErrorKind::kValue, "a size is divided by zero: {} // 0", a);
  if (b == -1) return checked_mul(a, -1);
  int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

int64_t mod_int(int64_t a, int64_t b) {
  check(b != 0, ErrorKind::kValue, "a size is divided by zero: {} % 0", a);
  if (b == -1) return 0;
  int64_t r = a % b;
  return (r != 0 && (r < 0) != (b < 0)) ? r + b : r;
}

namespace {

int compare_lists(const std::vector<Dim>& a, const std::vector<Dim>& b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  for (size_t i = 0; i < a.size(); ++i)
    if (int c = compare(a[i], b[i])) return c;
  return 0;
}

// Higher degree first, then by atoms: a monomial order, so that exact division terminates.
int compare_terms(const Term& a, const Term& b) {
  if (a.atoms.size() != b.atoms.size()) return a.atoms.size() > b.atoms.size() ? -1 : 1;
  for (size_t i = 0; i < a.atoms.size(); ++i)
    if (int c = compare(a.atoms[i], b.atoms[i])) return c;
  return 0;
}

Poly normal(Poly p) {
  std::sort(p.begin(), p.end(), [](const Term& a, const Term& b) { return compare_terms(a, b) < 0; });
  Poly r;
  for (Term& t : p) {
    if (!r.empty() && compare_terms(r.back(), t) == 0)
      r.back().coefficient = checked_add(r.back().coefficient, t.coefficient);
    else
      r.push_back(std::move(t));
    if (r.back().coefficient == 0) r.pop_back();
  }
  return r;
}

bool atom_order(Dim a, Dim b) { return compare(a, b) < 0; }

// The term / divisor, if the coefficients and atoms divide.
std::optional<Term> divide_term(const Term& a, const Term& b) {
  if (a.coefficient % b.coefficient != 0) return {};
  Term r{a.coefficient / b.coefficient, {}};
  size_t j = 0;
  for (Dim atom : a.atoms) {
    if (j < b.atoms.size() && atom == b.atoms[j])
      ++j;
    else
      r.atoms.push_back(atom);
  }
  if (j != b.atoms.size()) return {};
  return r;
}

}  // namespace

int compare(Dim a, Dim b) {
  if (a == b) return 0;
  if (a.is_const() != b.is_const()) return a.is_const() ? 1 : -1;  // constants last
  if (a.is_const()) return a.bits() < b.bits() ? -1 : 1;
  const DimNode &x = node_of(a), &y = node_of(b);
  if (x.op != y.op) return x.op < y.op ? -1 : 1;
  if (x.op == DimOp::kSymbol) {
    // S2 before S10.
    if (x.name.size() != y.name.size()) return x.name.size() < y.name.size() ? -1 : 1;
    return x.name < y.name ? -1 : 1;
  }
  return compare_lists(x.operands, y.operands);
}

Poly poly_of(Dim d) {
  if (d.is_const()) return d.bits() == 0 ? Poly{} : Poly{Term{d.bits(), {}}};
  const DimNode& n = node_of(d);
  if (n.op == DimOp::kAdd) {
    Poly p;
    for (Dim t : n.operands) p.push_back(poly_of(t)[0]);
    return p;
  }
  if (n.op == DimOp::kMul) {
    Term t;
    for (Dim f : n.operands) {
      if (f.is_const())
        t.coefficient = f.bits();
      else
        t.atoms.push_back(f);
    }
    return {t};
  }
  return {Term{1, {d}}};
}

Dim dim_of(const Poly& p) {
  auto term = [](const Term& t) {
    if (t.atoms.empty()) return Dim(t.coefficient);
    if (t.coefficient == 1 && t.atoms.size() == 1) return t.atoms[0];
    std::vector<Dim> factors;
    if (t.coefficient != 1) factors.push_back(Dim(t.coefficient));
    factors.insert(factors.end(), t.atoms.begin(), t.atoms.end());
    return intern(DimOp::kMul, std::move(factors));
  };
  if (p.empty()) return Dim(0);
  if (p.size() == 1) return term(p[0]);
  std::vector<Dim> terms;
  for (const Term& t : p) terms.push_back(term(t));
  return intern(DimOp::kAdd, std::move(terms));
}

Poly add(const Poly& a, const Poly& b, int64_t scale) {
  Poly r = a;
  for (Term t : b) {
    t.coefficient = checked_mul(t.coefficient, scale);
    r.push_back(std::move(t));
  }
  return normal(std::move(r));
}

Poly multiply(const Poly& a, const Poly& b) {
  check(a.size() * b.size() <= 4096, ErrorKind::kValue, "a symbolic size has more than 4096 terms");
  Poly r;
  for (const Term& x : a)
    for (const Term& y : b) {
      Term t{checked_mul(x.coefficient, y.coefficient), {}};
      t.atoms.reserve(x.atoms.size() + y.atoms.size());
      std::merge(x.atoms.begin(), x.atoms.end(), y.atoms.begin(), y.atoms.end(), std::back_inserter(t.atoms),
                 atom_order);
      r.push_back(std::move(t));
    }
  return normal(std::move(r));
}

std::optional<Poly> divide_exactly(const Poly& a, const Poly& b) {
  if (b.empty()) return {};
  Poly rest = a, quotient;
  // Each step cancels the leading term; a divisor of many terms can only make finitely many smaller ones.
  for (int step = 0; !rest.empty(); ++step) {
    std::optional<Term> q = divide_term(rest[0], b[0]);
    if (!q || step > 256) return {};
    rest = add(rest, multiply({*q}, b), -1);
    quotient.push_back(*q);
  }
  return normal(std::move(quotient));
}

namespace {

int64_t clamp(__int128 v) {
  if (v >= Range::kInf) return Range::kInf;
  if (v <= -static_cast<__int128>(Range::kInf)) return -Range::kInf;
  return static_cast<int64_t>(v);
}

// Infinities are absorbing: inf * 0 is 0.
int64_t mul_end(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  bool infinite = std::abs(a) == Range::kInf || std::abs(b) == Range::kInf;
  if (infinite) return (a < 0) != (b < 0) ? -Range::kInf : Range::kInf;
  return clamp(static_cast<__int128>(a) * b);
}

int64_t add_end(int64_t a, int64_t b) {
  if (std::abs(a) == Range::kInf) return a;
  if (std::abs(b) == Range::kInf) return b;
  return clamp(static_cast<__int128>(a) + b);
}

Range mul_range(Range a, Range b) {
  int64_t e[4] = {mul_end(a.lo, b.lo), mul_end(a.lo, b.hi), mul_end(a.hi, b.lo), mul_end(a.hi, b.hi)};
  return {*std::min_element(e, e + 4), *std::max_element(e, e + 4)};
}

Range quotient_range(Range a, Range b) {
  if (b.lo < 1) return {};
  auto end = [](int64_t x, int64_t d) {
    if (std::abs(x) == Range::kInf) return x;
    if (d == Range::kInf) return x < 0 ? int64_t{-1} : int64_t{0};
    return floor_div_int(x, d);
  };
  Range r;
  r.lo = std::min(end(a.lo, b.lo), end(a.lo, b.hi));
  r.hi = std::max(end(a.hi, b.lo), end(a.hi, b.hi));
  return r;
}

}  // namespace

Range range_of(Dim d) {
  if (d.is_const()) return {d.bits(), d.bits()};
  const DimNode& n = node_of(d);
  if (n.op == DimOp::kSymbol) return {2, Range::kInf};
  Range r = range_of(n.operands[0]);
  if (n.op == DimOp::kMod) {
    Range by = range_of(n.operands[1]);
    return by.lo >= 1 ? Range{0, by.hi == Range::kInf ? by.hi : by.hi - 1} : Range{};
  }
  for (size_t i = 1; i < n.operands.size(); ++i) {
    Range o = range_of(n.operands[i]);
    switch (n.op) {
      case DimOp::kAdd:
        r = {add_end(r.lo, o.lo), add_end(r.hi, o.hi)};
        break;
      case DimOp::kMul:
        r = mul_range(r, o);
        break;
      case DimOp::kFloorDiv:
        r = quotient_range(r, o);
        break;
      case DimOp::kMin:
        r = {std::min(r.lo, o.lo), std::min(r.hi, o.hi)};
        break;
      case DimOp::kMax:
        r = {std::max(r.lo, o.lo), std::max(r.hi, o.hi)};
        break;
      default:
        return {};
    }
  }
  return r;
}

}  // namespace paddle::dim_detail
