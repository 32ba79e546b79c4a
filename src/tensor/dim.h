// Dim: one extent of a shape, a constant or a symbolic expression, in one 64-bit word.
//
// Shape rules are written once over Dim. In eager every Dim is a constant and its arithmetic is integer arithmetic plus
// one predictable branch; under trace the same code builds interned expressions. (A template over the size type would
// compile every rule twice for the same result.)
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/inline_vec.h"

namespace paddle {

class Dim {
 public:
  // Numbers too far out to be a size (their words are taken) mean the same at the end of the range.
  constexpr Dim() = default;
  constexpr Dim(int64_t v) : bits_(v < kSymbolic ? kSymbolic : v) {}
  constexpr Dim(int v) : bits_(v) {}
  constexpr Dim(size_t v) : bits_(v > INT64_MAX ? INT64_MAX : static_cast<int64_t>(v)) {}

  constexpr bool is_symbolic() const { return bits_ < kSymbolic; }
  constexpr bool is_const() const { return !is_symbolic(); }
  // The constant; an InternalError for a symbolic extent.
  int64_t value() const {
    if (is_symbolic()) [[unlikely]]
      not_constant();
    return bits_;
  }
  // The constant, or what the symbols stood for when the program was captured.
  int64_t hint() const;
  std::string str() const;

  // Same expression (not: same value under some binding).
  friend constexpr bool operator==(Dim a, Dim b) { return a.bits_ == b.bits_; }
  size_t hash() const { return std::hash<int64_t>()(bits_); }

  constexpr int64_t bits() const { return bits_; }
  static constexpr Dim from_bits(int64_t bits) {
    Dim d;
    d.bits_ = bits;
    return d;
  }
  static constexpr int64_t kSymbolic = INT64_MIN / 2;  // words below are indices into the table of expressions

 private:
  [[noreturn]] void not_constant() const;
  int64_t bits_ = 0;
};

enum class DimOp : uint8_t { kSymbol, kConst, kAdd, kMul, kFloorDiv, kMod, kMin, kMax };

// One interned node; sums and products are kept in a canonical order, so equal expressions have equal words.
struct DimNode {
  DimOp op;
  int64_t value = 0;  // kConst: the number; kSymbol: its id
  std::vector<Dim> operands;
  std::string name;  // kSymbol
  int64_t hint = 0;
  bool seen = false;  // kSymbol: the hint is a size that was seen, not a stand-in
};
const DimNode& node_of(Dim d);  // d must be symbolic

// A fresh symbol (>= 2 by definition: 0 and 1 are constants). hint: the value seen at capture; 0 where none is known,
// then a distinct large stand-in is used.
Dim new_symbol(int64_t hint = 0, std::string name = {});
// Is every symbol in d one whose size was seen? Where it wasn't (InputSpec's None, the result of nonzero), shape rules
// take on trust that sizes agree, since no guard could be judged; kernels check.
bool has_hint(Dim d);
Dim symbol_by_name(const std::string& name);  // finds or makes; the parser of printed programs uses it

namespace dim_detail {
Dim slow(DimOp op, Dim a, Dim b);
}
// Sums of constants saturate: the end of a slice may be INT64_MAX. Products that overflow are a ValueError: a saturated
// one would be taken for a size.
inline Dim operator+(Dim a, Dim b) {
  int64_t r = 0;
  if (a.is_const() && b.is_const() && !__builtin_add_overflow(a.bits(), b.bits(), &r)) [[likely]]
    return Dim(r);
  return dim_detail::slow(DimOp::kAdd, a, b);
}
inline Dim operator*(Dim a, Dim b) {
  int64_t r = 0;
  if (a.is_const() && b.is_const() && !__builtin_mul_overflow(a.bits(), b.bits(), &r)) [[likely]]
    return Dim(r);
  return dim_detail::slow(DimOp::kMul, a, b);
}
inline Dim operator-(Dim a) { return a * Dim(-1); }
inline Dim operator-(Dim a, Dim b) {
  int64_t r = 0;
  if (a.is_const() && b.is_const() && !__builtin_sub_overflow(a.bits(), b.bits(), &r)) [[likely]]
    return Dim(r);
  return a + b * Dim(-1);
}
Dim floor_div(Dim a, Dim b);  // rounds down, as Python's //
Dim mod(Dim a, Dim b);        // sign of the divisor, as Python's %
Dim min(Dim a, Dim b);
Dim max(Dim a, Dim b);
inline Dim ceil_div(Dim a, Dim b) { return floor_div(a + b - Dim(1), b); }

// Questions whose answer may depend on the sizes of a later call. Constants are answered at once. For symbols the
// answer is what holds for the hints, and the guard under which it holds goes to the thread's sink.
enum class DimRel : uint8_t { kEq, kNe, kLt, kLe };
struct DimGuard {
  Dim a;
  DimRel rel;
  Dim b;
  std::string str() const;
};
bool holds(Dim a, DimRel rel, Dim b);
inline bool equal(Dim a, Dim b) { return a == b || ((a.is_symbolic() || b.is_symbolic()) && holds(a, DimRel::kEq, b)); }
inline bool less(Dim a, Dim b) { return holds(a, DimRel::kLt, b); }
// The integer, guarding that it stays what it is now: for places that need a number (loops in Python, kernels'
// attributes).
int64_t guard_int(Dim d);

// Collects guards while a program is traced. With no sink installed, holds() on symbols throws an InternalError.
class DimGuardSink {
 public:
  explicit DimGuardSink(std::vector<DimGuard>* out);
  ~DimGuardSink();

 private:
  std::vector<DimGuard>* previous_;
};

// The number that an expression has when its symbols have the given values (id -> value).
using DimBinding = std::function<int64_t(int64_t symbol_id)>;
int64_t evaluate(Dim d, const DimBinding& values);
void symbols_of(Dim d, std::vector<Dim>& out);  // every distinct symbol in d, in order of appearance
Dim substitute(Dim d, const std::function<Dim(Dim symbol)>& to);
Dim parse_dim(std::string_view text);  // the inverse of str()

using Shape = InlineVec<Dim, 6>;
using Strides = InlineVec<int64_t, 6>;
using Sizes = InlineVec<int64_t, 6>;

Dim numel(std::span<const Dim> shape);
bool is_static(std::span<const Dim> shape);
Sizes static_sizes(std::span<const Dim> shape);  // InternalError if symbolic
Strides contiguous_strides(std::span<const Dim> shape);
std::string to_string(std::span<const Dim> shape);  // "[2, S0, 4]"
inline std::span<const Dim> view(const Shape& s) { return {s.data(), s.size()}; }

}  // namespace paddle
