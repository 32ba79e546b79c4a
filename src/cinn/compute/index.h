// Index: integer expressions over size symbols and loop variables, as polynomials in canonical form.
//
// Two expressions are equal exactly when their polynomials are, a stride is a coefficient, and a product of symbolic
// sizes is a monomial: what a loop compiler asks of its indices all day becomes reading a short list. What is no
// polynomial (quotient, remainder, minimum, maximum) is an atom, interned in the pool.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace paddle::cinn {

using AtomId = int32_t;
using Monomial = std::vector<AtomId>;  // sorted; an atom stands once per power

class Index {
 public:
  Index() = default;
  Index(int64_t constant);
  static Index of_atom(AtomId atom);
  static Index from_terms(std::map<Monomial, int64_t> terms);

  bool is_const() const { return terms_.empty() || (terms_.size() == 1 && terms_[0].first.empty()); }
  bool is(int64_t v) const { return is_const() && value() == v; }
  int64_t value() const { return terms_.empty() ? 0 : terms_[0].second; }  // of a constant
  const std::vector<std::pair<Monomial, int64_t>>& terms() const { return terms_; }
  bool mentions(AtomId atom) const;      // at the top level, not inside other atoms
  Index coefficient(AtomId atom) const;  // a, where this = a * atom + b
  Index without(AtomId atom) const;      // b

  friend Index operator+(const Index& a, const Index& b);
  friend Index operator-(const Index& a, const Index& b);
  friend Index operator*(const Index& a, const Index& b);
  friend bool operator==(const Index& a, const Index& b) { return a.terms_ == b.terms_; }
  friend bool operator<(const Index& a, const Index& b) { return a.terms_ < b.terms_; }

 private:
  std::vector<std::pair<Monomial, int64_t>>
      terms_;  // sorted, no zero coefficients; the constant has the empty monomial
};

enum class AtomKind : uint8_t {
  kSymbol,  // the number-th size that the caller passes; at least 1
  kVar,     // a loop variable in [0, a)
  kValue,   // an integer computed by the kernel (a gathered row), in [0, a)
  kDiv,     // a / b rounded down
  kMod,     // a - a / b * b
  kMin,
  kMax,
};

struct Atom {
  AtomKind kind;
  int32_t number = 0;  // kSymbol: position in the sizes; kVar, kValue: identity
  Index a, b;
};

class IndexPool {
 public:
  // A pool that holds just these, each with the number of its place. They may only mention earlier ones.
  static IndexPool of_atoms(std::vector<Atom> atoms);

  Index symbol(int32_t position);
  Index var(const Index& extent);  // a fresh loop variable
  Index value(int32_t value_id, const Index& extent);
  Index div(const Index& a, const Index& b);  // a >= 0, b >= 1
  Index mod(const Index& a, const Index& b);
  // Remainders joined with the quotients that they were taken apart from: n * (a / n) + a mod n = a.
  Index joined(Index e);
  Index min(const Index& a, const Index& b);
  Index max(const Index& a, const Index& b);
  Index ceil_div(const Index& a, const Index& b) { return div(a + b - 1, b); }
  Index clamp(const Index& a, const Index& low, const Index& high) { return max(min(a, high), low); }

  const Atom& atom(AtomId id) const { return atoms_[id]; }
  size_t size() const { return atoms_.size(); }
  // Can be shown to hold for every admissible value of symbols and variables.
  bool at_least(const Index& a, int64_t bound) const { return non_negative(a - bound, 0); }
  // a = b * q exactly, for one-term b; false if it can't be shown.
  static bool divide_exactly(const Index& a, const Index& b, Index* quotient);
  // Replaces atoms (also inside other atoms) by expressions.
  Index substitute(const Index& a, const std::map<AtomId, Index>& to);
  // Every atom that `a` depends on, at any depth, leaves only (symbols, variables, values).
  void leaves(const Index& a, std::vector<AtomId>& out) const;
  int64_t evaluate(const Index& a, const int64_t* sizes) const;  // only symbols may be left
  std::string str(const Index& a) const;

 private:
  Index intern(AtomKind kind, const Index& a, const Index& b);
  bool non_negative(const Index& a, int depth) const;

  std::vector<Atom> atoms_;
  std::map<std::tuple<AtomKind, Index, Index>, AtomId> interned_;
  std::map<int32_t, AtomId> symbols_, values_;
  int32_t next_var_ = 0;
};

}  // namespace paddle::cinn
