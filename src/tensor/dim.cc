// Dim: simplification, questions about sizes, evaluation. The table of expressions is in dim_table.cc, the text form in
// dim_text.cc.
#include "tensor/dim.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "tensor/dim_expr.h"

namespace paddle {

using namespace dim_detail;

namespace {

thread_local std::vector<DimGuard>* guard_sink = nullptr;

// Parts of `a` that `b` divides go to `quotient`, the rest to `rest`; b is one term.
void split_by(const Poly& a, const Term& b, Poly& quotient, Poly& rest) {
  for (const Term& t : a) {
    if (t.atoms.empty() && b.atoms.empty()) {
      int64_t q = floor_div_int(t.coefficient, b.coefficient), r = mod_int(t.coefficient, b.coefficient);
      if (q) quotient.push_back({q, {}});
      if (r) rest.push_back({r, {}});
      continue;
    }
    auto q = divide_exactly({t}, {b});
    if (q)
      quotient.insert(quotient.end(), q->begin(), q->end());
    else
      rest.push_back(t);
  }
}

int64_t content_of(const Poly& p) {
  int64_t g = 0;
  for (const Term& t : p) g = std::gcd(g, t.coefficient);
  return g;
}

Poly over(Poly p, int64_t g) {
  for (Term& t : p) t.coefficient /= g;
  return p;
}

bool in_range(Dim d, Dim below) {  // 0 <= d < below, provably
  return range_of(d).lo >= 0 && range_of(below - d).lo >= 1;
}

// a // b for what simplification leaves.
Dim quotient_node(Dim a, Dim b) {
  if (in_range(a, b)) return Dim(0);
  int64_t g = std::gcd(content_of(poly_of(a)), content_of(poly_of(b)));
  if (g > 1) return floor_div(dim_of(over(poly_of(a), g)), dim_of(over(poly_of(b), g)));
  if (b.is_const() && b.bits() > 0 && a.is_symbolic()) {
    const DimNode& n = node_of(a);
    if (n.op == DimOp::kFloorDiv && n.operands[1].is_const() && n.operands[1].bits() > 0)
      return floor_div(n.operands[0], Dim(checked_mul(n.operands[1].bits(), b.bits())));
  }
  return intern(DimOp::kFloorDiv, {a, b});
}

template <class Pick>
Dim extremum(DimOp op, Dim a, Dim b, Pick pick) {
  std::vector<Dim> items;
  for (Dim d : {a, b}) {
    if (d.is_symbolic() && node_of(d).op == op)
      items.insert(items.end(), node_of(d).operands.begin(), node_of(d).operands.end());
    else
      items.push_back(d);
  }
  std::vector<Dim> kept;
  for (size_t i = 0; i < items.size(); ++i) {
    bool dominated = false;
    for (size_t j = 0; j < items.size() && !dominated; ++j) {
      if (i == j) continue;
      if (items[i] == items[j])
        dominated = j < i;
      else
        dominated = pick(range_of(items[i] - items[j]));
    }
    if (!dominated) kept.push_back(items[i]);
  }
  if (kept.size() == 1) return kept[0];
  std::sort(kept.begin(), kept.end(), [](Dim x, Dim y) { return compare(x, y) < 0; });
  return intern(op, std::move(kept));
}

int64_t apply_int(DimOp op, int64_t a, int64_t b) {
  switch (op) {
    case DimOp::kFloorDiv:
      return floor_div_int(a, b);
    case DimOp::kMod:
      return mod_int(a, b);
    case DimOp::kMin:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

// Stand-ins are large: hints saturate where evaluation would overflow, far enough from the ends to take differences.
int64_t hint_of(Dim d) {
  constexpr __int128 kMost = int64_t{1} << 61;
  if (d.is_const()) return d.bits();
  const DimNode& n = node_of(d);
  if (n.op == DimOp::kSymbol) return n.hint;
  __int128 r = hint_of(n.operands[0]);
  for (size_t i = 1; i < n.operands.size(); ++i) {
    int64_t o = hint_of(n.operands[i]);
    if (n.op == DimOp::kAdd)
      r += o;
    else if (n.op == DimOp::kMul)
      r *= o;
    else
      r = apply_int(n.op, static_cast<int64_t>(r), o);
    r = std::clamp(r, -kMost, kMost);
  }
  return static_cast<int64_t>(r);
}

// What is certain of `a - b REL 0`: 1 true, 0 false, -1 depends.
int decide(Dim difference, DimRel rel) {
  Range r = range_of(difference);
  switch (rel) {
    case DimRel::kEq:
      return (r.lo > 0 || r.hi < 0) ? 0 : (r.lo == 0 && r.hi == 0) ? 1 : -1;
    case DimRel::kNe:
      return (r.lo > 0 || r.hi < 0) ? 1 : (r.lo == 0 && r.hi == 0) ? 0 : -1;
    case DimRel::kLt:
      return r.hi < 0 ? 1 : r.lo >= 0 ? 0 : -1;
    case DimRel::kLe:
      return r.hi <= 0 ? 1 : r.lo > 0 ? 0 : -1;
  }
  return -1;
}

void record(DimGuard g) {
  if (!guard_sink) throw InternalError(fmt::format("a question about symbolic sizes outside of tracing: {}", g.str()));
  auto same = [&](const DimGuard& o) { return o.a == g.a && o.b == g.b && o.rel == g.rel; };
  // The same question comes again soon or never; a full search would be quadratic.
  auto from = guard_sink->end() - std::min<std::ptrdiff_t>(64, static_cast<std::ptrdiff_t>(guard_sink->size()));
  if (std::none_of(from, guard_sink->end(), same)) guard_sink->push_back(g);
}

}  // namespace

Dim dim_detail::slow(DimOp op, Dim a, Dim b) {
  if (a.is_const() && b.is_const())  // constants come here where they overflow, sums upwards only
    return op == DimOp::kAdd ? Dim(INT64_MAX) : Dim(checked_mul(a.bits(), b.bits()));
  if (op == DimOp::kAdd) return dim_of(add(poly_of(a), poly_of(b)));
  PD_INVARIANT(op == DimOp::kMul);
  return dim_of(multiply(poly_of(a), poly_of(b)));
}

void Dim::not_constant() const {
  throw InternalError(fmt::format("a constant size was expected, got the symbolic size {}", str()));
}

bool has_hint(Dim d) {
  if (d.is_const()) return true;
  const DimNode& n = node_of(d);
  if (n.op == DimOp::kSymbol) return n.seen;
  return std::all_of(n.operands.begin(), n.operands.end(), has_hint);
}

int64_t Dim::hint() const {
  if (is_const()) return bits_;
  return hint_of(*this);
}

Dim floor_div(Dim a, Dim b) {
  if (a.is_const() && b.is_const()) return floor_div_int(a.bits(), b.bits());
  check(b != Dim(0), ErrorKind::kValue, "a size is divided by zero: {} // 0", a.str());
  if (b == Dim(1)) return a;
  Poly p = poly_of(a), q = poly_of(b);
  if (auto exact = divide_exactly(p, q)) return dim_of(*exact);
  if (q.size() != 1) return quotient_node(a, b);
  // floor((q*b + r) / b) = q + floor(r / b) for whole q.
  Poly whole, rest;
  split_by(p, q[0], whole, rest);
  if (whole.empty()) return quotient_node(a, b);
  return dim_of(whole) + floor_div(dim_of(rest), b);
}

Dim mod(Dim a, Dim b) {
  if (a.is_const() && b.is_const()) return mod_int(a.bits(), b.bits());
  check(b != Dim(0), ErrorKind::kValue, "a size is divided by zero: {} % 0", a.str());
  Poly p = poly_of(a), q = poly_of(b);
  if (divide_exactly(p, q)) return Dim(0);
  if (q.size() == 1) {
    Poly whole, rest;
    split_by(p, q[0], whole, rest);
    if (!whole.empty()) return mod(dim_of(rest), b);
  }
  if (in_range(a, b)) return a;
  return intern(DimOp::kMod, {a, b});
}

Dim min(Dim a, Dim b) {
  if (a.is_const() && b.is_const()) return std::min(a.bits(), b.bits());
  return extremum(DimOp::kMin, a, b, [](Range r) { return r.lo >= 0; });  // the other is never larger
}

Dim max(Dim a, Dim b) {
  if (a.is_const() && b.is_const()) return std::max(a.bits(), b.bits());
  return extremum(DimOp::kMax, a, b, [](Range r) { return r.hi <= 0; });
}

bool holds(Dim a, DimRel rel, Dim b) {
  if (a == b) return rel == DimRel::kEq || rel == DimRel::kLe;
  if (a.is_const() && b.is_const())  // a difference could overflow
    return rel == DimRel::kNe || (rel != DimRel::kEq && a.bits() < b.bits());
  Dim difference = a - b;
  int certain = decide(difference, rel);
  if (certain >= 0) return certain;
  certain = decide(Dim(a.hint()) - Dim(b.hint()), rel);
  DimGuard g{a, rel, b};
  if (!certain) {
    switch (rel) {
      case DimRel::kEq:
        g.rel = DimRel::kNe;
        break;
      case DimRel::kNe:
        g.rel = DimRel::kEq;
        break;
      case DimRel::kLt:
        g = {b, DimRel::kLe, a};
        break;
      case DimRel::kLe:
        g = {b, DimRel::kLt, a};
        break;
    }
  }
  record(g);
  return certain;
}

int64_t guard_int(Dim d) {
  if (d.is_const()) return d.bits();
  if (!has_hint(d))  // the stand-in must not become a number of the program
    fail(ErrorKind::kValue,
         "the number of the open size {} is needed here, but only a running program knows it: give the size in the "
         "InputSpec, or compute with it as a size or a tensor",
         d.str());
  int64_t v = d.hint();
  record({d, DimRel::kEq, Dim(v)});
  return v;
}

DimGuardSink::DimGuardSink(std::vector<DimGuard>* out) : previous_(guard_sink) { guard_sink = out; }
DimGuardSink::~DimGuardSink() { guard_sink = previous_; }

int64_t evaluate(Dim d, const DimBinding& values) {
  if (d.is_const()) return d.bits();
  const DimNode& n = node_of(d);
  if (n.op == DimOp::kSymbol) return values(n.value);
  int64_t r = evaluate(n.operands[0], values);
  for (size_t i = 1; i < n.operands.size(); ++i) {
    int64_t o = evaluate(n.operands[i], values);
    switch (n.op) {
      case DimOp::kAdd:
        r = checked_add(r, o);
        break;
      case DimOp::kMul:
        r = checked_mul(r, o);
        break;
      default:
        r = apply_int(n.op, r, o);
    }
  }
  return r;
}

void symbols_of(Dim d, std::vector<Dim>& out) {
  if (d.is_const()) return;
  const DimNode& n = node_of(d);
  if (n.op == DimOp::kSymbol) {
    if (std::find(out.begin(), out.end(), d) == out.end()) out.push_back(d);
    return;
  }
  for (Dim o : n.operands) symbols_of(o, out);
}

Dim substitute(Dim d, const std::function<Dim(Dim symbol)>& to) {
  if (d.is_const()) return d;
  const DimNode& n = node_of(d);
  if (n.op == DimOp::kSymbol) return to(d);
  Dim r = substitute(n.operands[0], to);
  for (size_t i = 1; i < n.operands.size(); ++i) {
    Dim o = substitute(n.operands[i], to);
    switch (n.op) {
      case DimOp::kAdd:
        r = r + o;
        break;
      case DimOp::kMul:
        r = r * o;
        break;
      case DimOp::kFloorDiv:
        r = floor_div(r, o);
        break;
      case DimOp::kMod:
        r = mod(r, o);
        break;
      case DimOp::kMin:
        r = min(r, o);
        break;
      case DimOp::kMax:
        r = max(r, o);
        break;
      default:
        break;
    }
  }
  return r;
}

Dim numel(std::span<const Dim> shape) {
  // A zero first: [0, 2^40, 2^40] has no elements rather than too many.
  for (Dim d : shape)
    if (d == Dim(0)) return 0;
  Dim n = 1;
  for (Dim d : shape) n = (n.is_const() && d.is_const()) ? Dim(checked_mul(n.bits(), d.bits())) : n * d;
  return n;
}

bool is_static(std::span<const Dim> shape) {
  return std::all_of(shape.begin(), shape.end(), [](Dim d) { return d.is_const(); });
}

Sizes static_sizes(std::span<const Dim> shape) {
  Sizes r;
  for (Dim d : shape) r.push_back(d.value());
  return r;
}

Strides contiguous_strides(std::span<const Dim> shape) {
  Strides r(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    r[i] = step;
    // Where a size is zero the others may be anything; no element, no stride that matters.
    if (__builtin_mul_overflow(step, std::max<int64_t>(shape[i].value(), 1), &step)) step = 1;
  }
  return r;
}

}  // namespace paddle
