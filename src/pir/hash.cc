#include "pir/hash.h"

#include <bit>
#include <unordered_map>

#include "base/error.h"
#include "base/mix.h"
#include "pir/clone.h"
#include "pir/dist_text.h"
#include "spmd/placement.h"

namespace paddle::pir {
namespace {

class Hasher {
 public:
  explicit Hasher(const FingerprintOptions& options) : options_(options) {}

  void number(uint64_t v) {
    lo_ = mix64(lo_ ^ v);
    hi_ = mix64(hi_ + v * 0x9E3779B97F4A7C15ull + 1);
  }
  void text(std::string_view s) {
    number(s.size());
    uint64_t word = 0;
    for (size_t i = 0; i < s.size(); ++i) {
      word |= uint64_t{static_cast<unsigned char>(s[i])} << (8 * (i % 8));
      if (i % 8 == 7 || i + 1 == s.size()) {
        number(word);
        word = 0;
      }
    }
  }

  // Independent of symbols' names and of the order of terms, which goes by names.
  uint64_t dim_hash(Dim d) {
    if (d.is_const()) return mix64(static_cast<uint64_t>(d.bits()) ^ 0x51);
    const DimNode& n = node_of(d);
    if (n.op == DimOp::kSymbol) return mix64(symbols_.emplace(n.value, symbols_.size()).first->second + 0x1234567);
    bool ordered = n.op == DimOp::kFloorDiv || n.op == DimOp::kMod;
    uint64_t h = static_cast<uint64_t>(n.op) + 0x77;
    for (Dim o : n.operands) h = ordered ? mix64(h ^ dim_hash(o)) : h + mix64(dim_hash(o));
    return mix64(h);
  }
  void shape(const Shape& s) {
    number(s.size());
    for (Dim d : s) number(dim_hash(d));
  }

  void type(Type t) {
    number(static_cast<uint64_t>(t.kind()));
    if (!t) return;
    const TypeData& d = *t.data();
    number((static_cast<uint64_t>(d.dtype) << 8) | static_cast<uint64_t>(d.layout));
    shape(d.shape);
    number(d.elements.size());
    for (Type e : d.elements) type(e);
    if (d.dist) text(dist_text(*d.dist));
  }

  void attribute(const Attribute& a) {
    number(static_cast<uint64_t>(a.kind()));
    switch (a.kind()) {
      case AttrKind::kNone:
        break;
      case AttrKind::kDim:
        number(dim_hash(a.as_dim()));
        break;
      case AttrKind::kIntArray:
        shape(a.as_ints());
        break;
      case AttrKind::kType:
        type(a.as_type());
        break;
      case AttrKind::kArray:
        number(a.items().size());
        for (const Attribute& i : a.items()) attribute(i);
        break;
      case AttrKind::kScalar:
        attribute(a.inner());
        break;
      case AttrKind::kDict:
        number(a.keys().size());
        for (size_t i = 0; i < a.keys().size(); ++i) {
          text(a.keys()[i]);
          attribute(a.values()[i]);
        }
        break;
      case AttrKind::kDense: {
        const DenseData& d = a.as_dense();
        number(static_cast<uint64_t>(d.dtype));
        for (int64_t s : d.shape) number(static_cast<uint64_t>(s));
        text({reinterpret_cast<const char*>(d.bytes.data()), d.bytes.size()});
        break;
      }
      default:
        text(a.str());
    }
  }

  void value(Value v) {
    if (!v) return number(~uint64_t{0});
    number(values_.emplace(v, values_.size()).first->second);
  }

  void operation(const Operation& op) {
    text(op.name());
    number(op.num_operands());
    for (const OpOperand& o : op.op_operands()) value(o.get());
    for (const NamedAttr& a : op.attrs()) {
      if (!options_.stop_gradient && is_remark(a.name.str())) continue;
      text(a.name.str());
      attribute(a.value);
    }
    number(op.num_results());
    for (size_t i = 0; i < op.num_results(); ++i) {
      value(op.result(i));
      type(op.result(i).type());
    }
    number(op.num_regions());
    for (size_t i = 0; i < op.num_regions(); ++i) {
      number(op.region(i).size());
      for (size_t b = 0; b < op.region(i).size(); ++b) block(op.region(i).block(b));
    }
  }

  void block(const Block& b) {
    number(b.num_args());
    for (size_t i = 0; i < b.num_args(); ++i) {
      value(b.arg(i));
      type(b.arg(i).type());
    }
    number(b.size());
    for (Operation& op : b) operation(op);
  }

  Fingerprint finish() const { return {hi_, lo_}; }

 private:
  static bool is_remark(std::string_view name) {
    return name == "stop_gradient" || name == "persistable" || name == "struct_name" || name == "op_callstack";
  }

  const FingerprintOptions& options_;
  uint64_t hi_ = 0x9ae16a3b2f90404full, lo_ = 0xc3a5c85c97cb3127ull;
  std::unordered_map<Value, uint64_t> values_;
  std::unordered_map<int64_t, uint64_t> symbols_;
};

using Pairs = std::unordered_map<Value, Value>;

bool same_value(Value a, Value b, const Pairs& pairs) {
  if (!a || !b) return a == b;
  auto it = pairs.find(a);
  return (it == pairs.end() ? a : it->second) == b;
}

bool same_op(const Operation& a, const Operation& b, Pairs& pairs);

bool same_block(const Block& a, const Block& b, Pairs& pairs) {
  if (a.num_args() != b.num_args() || a.size() != b.size()) return false;
  for (size_t i = 0; i < a.num_args(); ++i) {
    if (a.arg(i).type() != b.arg(i).type() || !(a.arg_attrs(i) == b.arg_attrs(i))) return false;
    pairs[a.arg(i)] = b.arg(i);
  }
  Operation* y = b.front();
  for (Operation& x : a) {
    if (!same_op(x, *y, pairs)) return false;
    y = y->next();
  }
  return true;
}

bool same_op(const Operation& a, const Operation& b, Pairs& pairs) {
  if (&a.def() != &b.def() || a.num_operands() != b.num_operands() || a.num_results() != b.num_results() ||
      a.num_regions() != b.num_regions() || !(a.attrs() == b.attrs()))
    return false;
  for (size_t i = 0; i < a.num_operands(); ++i)
    if (!same_value(a.operand(i), b.operand(i), pairs)) return false;
  for (size_t i = 0; i < a.num_results(); ++i) {
    if (a.result(i).type() != b.result(i).type()) return false;
    pairs[a.result(i)] = b.result(i);
  }
  for (size_t r = 0; r < a.num_regions(); ++r) {
    if (a.region(r).size() != b.region(r).size()) return false;
    for (size_t i = 0; i < a.region(r).size(); ++i)
      if (!same_block(a.region(r).block(i), b.region(r).block(i), pairs)) return false;
  }
  return true;
}

}  // namespace

std::string Fingerprint::str() const { return fmt::format("{:016x}{:016x}", hi, lo); }

Fingerprint fingerprint(const Block& block, const FingerprintOptions& options) {
  Hasher h(options);
  h.block(block);
  return h.finish();
}
Fingerprint fingerprint(const Operation& op, const FingerprintOptions& options) {
  Hasher h(options);
  h.operation(op);
  return h.finish();
}
Fingerprint fingerprint(const Program& program, const FingerprintOptions& options) {
  return fingerprint(program.module(), options);
}

bool equivalent(const Operation& a, const Operation& b) {
  Pairs pairs;
  return same_op(a, b, pairs);
}

size_t hash_for_equivalence(const Operation& op) {
  size_t h = std::hash<const void*>()(&op.def());
  for (const OpOperand& o : op.op_operands()) h = mix64(h ^ o.get().hash());
  for (const NamedAttr& a : op.attrs()) h = mix64(h ^ a.value.hash());
  for (size_t i = 0; i < op.num_results(); ++i) h = mix64(h ^ op.result(i).type().hash());
  return h;
}

}  // namespace paddle::pir
