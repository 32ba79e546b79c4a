#include "cinn/compute/index.h"

#include <algorithm>

#include "base/error.h"

namespace paddle::cinn {

Index::Index(int64_t constant) {
  if (constant != 0) terms_.push_back({{}, constant});
}

Index Index::of_atom(AtomId atom) {
  Index r;
  r.terms_.push_back({{atom}, 1});
  return r;
}

Index Index::from_terms(std::map<Monomial, int64_t> terms) {
  Index r;
  for (auto& [m, c] : terms)
    if (c != 0) r.terms_.push_back({m, c});
  return r;
}

bool Index::mentions(AtomId atom) const {
  for (const auto& [m, c] : terms_)
    if (std::binary_search(m.begin(), m.end(), atom)) return true;
  return false;
}

Index Index::coefficient(AtomId atom) const {
  std::map<Monomial, int64_t> out;
  for (const auto& [m, c] : terms_) {
    auto it = std::lower_bound(m.begin(), m.end(), atom);
    if (it == m.end() || *it != atom) continue;
    Monomial rest = m;
    rest.erase(rest.begin() + (it - m.begin()));
    out[rest] += c;
  }
  return from_terms(std::move(out));
}

Index Index::without(AtomId atom) const {
  Index r;
  for (const auto& t : terms_)
    if (!std::binary_search(t.first.begin(), t.first.end(), atom)) r.terms_.push_back(t);
  return r;
}

static Index merge(const Index& a, const Index& b, int64_t sign) {
  std::map<Monomial, int64_t> out;
  for (const auto& [m, c] : a.terms()) out[m] += c;
  for (const auto& [m, c] : b.terms()) out[m] += sign * c;
  return Index::from_terms(std::move(out));
}

Index operator+(const Index& a, const Index& b) {
  if (b.terms_.empty()) return a;
  if (a.terms_.empty()) return b;
  return merge(a, b, 1);
}

Index operator-(const Index& a, const Index& b) { return merge(a, b, -1); }

Index operator*(const Index& a, const Index& b) {
  std::map<Monomial, int64_t> out;
  for (const auto& [m, c] : a.terms_)
    for (const auto& [n, d] : b.terms_) {
      Monomial product(m.size() + n.size());
      std::merge(m.begin(), m.end(), n.begin(), n.end(), product.begin());
      out[product] += c * d;
    }
  return Index::from_terms(std::move(out));
}

IndexPool IndexPool::of_atoms(std::vector<Atom> atoms) {
  IndexPool pool;
  auto earlier = [&](const Index& x, AtomId id) {
    for (const auto& [m, c] : x.terms())
      for (AtomId a : m) check(a >= 0 && a < id, ErrorKind::kValue, "an index mentions atom {} before it is made", a);
  };
  for (size_t i = 0; i < atoms.size(); ++i) {
    const Atom& x = atoms[i];
    const auto id = static_cast<AtomId>(i);
    earlier(x.a, id), earlier(x.b, id);
    if (x.kind == AtomKind::kSymbol)
      pool.symbols_.emplace(x.number, id);
    else if (x.kind == AtomKind::kValue)
      pool.values_.emplace(x.number, id);
    else if (x.kind == AtomKind::kVar)
      pool.next_var_ = std::max(pool.next_var_, x.number + 1);
    else
      pool.interned_.emplace(std::tuple{x.kind, x.a, x.b}, id);
  }
  pool.atoms_ = std::move(atoms);
  return pool;
}

Index IndexPool::symbol(int32_t position) {
  auto [it, fresh] = symbols_.try_emplace(position, static_cast<AtomId>(atoms_.size()));
  if (fresh) atoms_.push_back({AtomKind::kSymbol, position, {}, {}});
  return Index::of_atom(it->second);
}

Index IndexPool::var(const Index& extent) {
  atoms_.push_back({AtomKind::kVar, next_var_++, extent, {}});
  return Index::of_atom(static_cast<AtomId>(atoms_.size() - 1));
}

Index IndexPool::value(int32_t value_id, const Index& extent) {
  auto [it, fresh] = values_.try_emplace(value_id, static_cast<AtomId>(atoms_.size()));
  if (fresh) atoms_.push_back({AtomKind::kValue, value_id, extent, {}});
  return Index::of_atom(it->second);
}

Index IndexPool::intern(AtomKind kind, const Index& a, const Index& b) {
  auto [it, fresh] = interned_.try_emplace({kind, a, b}, static_cast<AtomId>(atoms_.size()));
  if (fresh) atoms_.push_back({kind, 0, a, b});
  return Index::of_atom(it->second);
}

bool IndexPool::divide_exactly(const Index& a, const Index& b, Index* quotient) {
  if (b.terms().size() != 1) {
    if (!(a == b)) return false;
    *quotient = 1;
    return true;
  }
  const auto& [monomial, factor] = b.terms()[0];
  std::map<Monomial, int64_t> out;
  for (const auto& [m, c] : a.terms()) {
    if (c % factor != 0 || !std::includes(m.begin(), m.end(), monomial.begin(), monomial.end())) return false;
    Monomial rest;
    std::set_difference(m.begin(), m.end(), monomial.begin(), monomial.end(), std::back_inserter(rest));
    out[rest] += c / factor;
  }
  *quotient = Index::from_terms(std::move(out));
  return true;
}

// Splits a into b * quotient + rest, term by term.
static void split_by(const Index& a, const Index& b, Index* quotient, Index* rest) {
  *quotient = *rest = 0;
  for (const auto& t : a.terms()) {
    Index term = Index::from_terms({t}), q;
    if (IndexPool::divide_exactly(term, b, &q))
      *quotient = *quotient + q;
    else if (t.first.empty() && b.is_const() && b.value() != 0) {  // a constant: 7 = 2 * 3 + 1
      int64_t d = t.second / b.value();
      if (t.second % b.value() < 0) --d;
      *quotient = *quotient + d;
      *rest = *rest + (t.second - d * b.value());
    } else {
      *rest = *rest + term;
    }
  }
}

Index IndexPool::div(const Index& a, const Index& b) {
  if (b.is(1)) return a;
  if (a.is_const() && b.is_const() && b.value() > 0)
    return a.value() >= 0 ? a.value() / b.value() : -((-a.value() + b.value() - 1) / b.value());
  Index q, r;
  split_by(a, b, &q, &r);
  if (non_negative(r, 0)) {
    if (non_negative(b - r - 1, 0)) return q;
    // (x / m) / n = x / (m n)
    if (q == Index(0) && a.terms().size() == 1 && a.terms()[0].second == 1 && a.terms()[0].first.size() == 1) {
      const Atom inner = atoms_[a.terms()[0].first[0]];
      if (inner.kind == AtomKind::kDiv) return div(inner.a, inner.b * b);
    }
    return q + intern(AtomKind::kDiv, r, b);
  }
  return intern(AtomKind::kDiv, a, b);
}

Index IndexPool::mod(const Index& a, const Index& b) {
  if (b.is(1)) return 0;
  if (a.is_const() && b.is_const() && b.value() > 0) return ((a.value() % b.value()) + b.value()) % b.value();
  Index q, r;
  split_by(a, b, &q, &r);
  if (non_negative(r, 0)) {
    if (non_negative(b - r - 1, 0)) return r;
    return intern(AtomKind::kMod, r, b);
  }
  return intern(AtomKind::kMod, a, b);
}

Index IndexPool::joined(Index e) {
  const auto join_one = [&] {
    for (const auto& [monomial, c] : e.terms())
      for (AtomId id : monomial) {
        if (atoms_[id].kind != AtomKind::kMod) continue;
        const Atom x = atoms_[id];
        const Index factor = e.coefficient(id), rest = e.without(id), quotient = div(x.a, x.b);
        if (quotient.terms().size() != 1 || quotient.terms()[0].second != 1 || quotient.terms()[0].first.size() != 1)
          continue;
        const AtomId whole = quotient.terms()[0].first[0];
        if (factor.mentions(id) || factor.mentions(whole) || !(rest.coefficient(whole) == factor * x.b)) continue;
        e = rest.without(whole) + factor * x.a;
        return true;
      }
    return false;
  };
  while (join_one()) {
  }
  return e;
}

Index IndexPool::min(const Index& a, const Index& b) {
  if (a == b || non_negative(b - a, 0)) return a;
  if (non_negative(a - b, 0)) return b;
  return intern(AtomKind::kMin, a, b);
}

Index IndexPool::max(const Index& a, const Index& b) {
  if (a == b || non_negative(a - b, 0)) return a;
  if (non_negative(b - a, 0)) return b;
  return intern(AtomKind::kMax, a, b);
}

// Eliminates one atom after the other by its bounds: a * x + b is monotone in x where the sign of a is known.
bool IndexPool::non_negative(const Index& e, int depth) const {
  if (e.is_const()) return e.value() >= 0;
  if (depth > 12 || e.terms().size() > 32) return false;
  // Variables first (their extents hold symbols), symbols last.
  AtomId pick = -1;
  auto rank = [&](AtomId id) { return atoms_[id].kind == AtomKind::kSymbol ? -1 : id; };
  for (const auto& [m, c] : e.terms())
    for (AtomId id : m)
      if (pick < 0 || rank(id) > rank(pick)) pick = id;
  const Atom& x = atoms_[pick];
  Index a = e.coefficient(pick), b = e.without(pick);
  bool rising = non_negative(a, depth + 1), falling = !rising && non_negative(a * -1, depth + 1);
  if (!rising && !falling) return false;
  switch (x.kind) {
    case AtomKind::kSymbol:
      return rising && non_negative(a + b, depth + 1);
    case AtomKind::kVar:
    case AtomKind::kValue:
      return non_negative(rising ? b : a * (x.a - 1) + b, depth + 1);
    case AtomKind::kMod:
      return non_negative(rising ? b : a * (x.b - 1) + b, depth + 1);
    case AtomKind::kDiv:
      if (rising) return non_negative(x.a, depth + 1) && non_negative(b, depth + 1);
      if (x.b.is_const() && x.b.value() > 0) {  // x <= x.a / x.b
        bool exact = true;
        std::map<Monomial, int64_t> scaled;
        const Index product = a * x.a;
        for (const auto& [m, c] : product.terms()) exact &= c % x.b.value() == 0, scaled[m] = c / x.b.value();
        if (exact) return non_negative(Index::from_terms(std::move(scaled)) + b, depth + 1);
      }
      return non_negative(a * x.a + b, depth + 1);
    case AtomKind::kMin:
      if (falling) return non_negative(a * x.a + b, depth + 1) || non_negative(a * x.b + b, depth + 1);
      return non_negative(a * x.a + b, depth + 1) && non_negative(a * x.b + b, depth + 1);
    case AtomKind::kMax:
      if (rising) return non_negative(a * x.a + b, depth + 1) || non_negative(a * x.b + b, depth + 1);
      return non_negative(a * x.a + b, depth + 1) && non_negative(a * x.b + b, depth + 1);
  }
  return false;
}

Index IndexPool::substitute(const Index& e, const std::map<AtomId, Index>& to) {
  Index out = 0;
  for (const auto& [m, c] : e.terms()) {
    Index term = c;
    for (AtomId id : m) {
      auto it = to.find(id);
      if (it != to.end()) {
        term = term * it->second;
        continue;
      }
      const Atom x = atoms_[id];
      switch (x.kind) {
        case AtomKind::kDiv:
          term = term * div(substitute(x.a, to), substitute(x.b, to));
          break;
        case AtomKind::kMod:
          term = term * mod(substitute(x.a, to), substitute(x.b, to));
          break;
        case AtomKind::kMin:
          term = term * min(substitute(x.a, to), substitute(x.b, to));
          break;
        case AtomKind::kMax:
          term = term * max(substitute(x.a, to), substitute(x.b, to));
          break;
        default:
          term = term * Index::of_atom(id);
      }
    }
    out = out + term;
  }
  return out;
}

void IndexPool::leaves(const Index& e, std::vector<AtomId>& out) const {
  for (const auto& [m, c] : e.terms())
    for (AtomId id : m) {
      const Atom& x = atoms_[id];
      if (x.kind <= AtomKind::kValue) {
        if (std::find(out.begin(), out.end(), id) == out.end()) out.push_back(id);
      } else {
        leaves(x.a, out);
        leaves(x.b, out);
      }
    }
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }

int64_t IndexPool::evaluate(const Index& e, const int64_t* sizes) const {
  int64_t sum = 0;
  for (const auto& [m, c] : e.terms()) {
    int64_t term = c;
    for (AtomId id : m) {
      const Atom& x = atoms_[id];
      if (x.kind == AtomKind::kSymbol) {
        term *= sizes[x.number];
        continue;
      }
      PD_INVARIANT(x.kind != AtomKind::kVar && x.kind != AtomKind::kValue);
      int64_t a = evaluate(x.a, sizes), b = evaluate(x.b, sizes);
      switch (x.kind) {
        case AtomKind::kDiv:
          term *= b == 0 ? 0 : floor_div(a, b);
          break;
        case AtomKind::kMod:
          term *= b == 0 ? 0 : a - floor_div(a, b) * b;
          break;
        case AtomKind::kMin:
          term *= std::min(a, b);
          break;
        default:
          term *= std::max(a, b);
      }
    }
    sum += term;
  }
  return sum;
}

std::string IndexPool::str(const Index& e) const {
  if (e.terms().empty()) return "0";
  std::string out;
  for (const auto& [m, c] : e.terms()) {
    if (!out.empty())
      out += c < 0 ? " - " : " + ";
    else if (c < 0)
      out += "-";
    int64_t magnitude = c < 0 ? -c : c;
    bool first = true;
    if (magnitude != 1 || m.empty()) out += std::to_string(magnitude), first = false;
    for (AtomId id : m) {
      if (!first) out += "*";
      first = false;
      const Atom& x = atoms_[id];
      switch (x.kind) {
        case AtomKind::kSymbol:
          out += "s" + std::to_string(x.number);
          break;
        case AtomKind::kVar:
          out += "i" + std::to_string(x.number);
          break;
        case AtomKind::kValue:
          out += "v" + std::to_string(x.number);
          break;
        case AtomKind::kDiv:
          out += "((" + str(x.a) + ") / (" + str(x.b) + "))";
          break;
        case AtomKind::kMod:
          out += "((" + str(x.a) + ") % (" + str(x.b) + "))";
          break;
        case AtomKind::kMin:
          out += "min(" + str(x.a) + ", " + str(x.b) + ")";
          break;
        case AtomKind::kMax:
          out += "max(" + str(x.a) + ", " + str(x.b) + ")";
          break;
      }
    }
  }
  return out;
}

}  // namespace paddle::cinn
