// DRR: declarative rewriting. A source pattern and a result pattern over named values:
//
//   Drr drr("merge_casts");
//   drr.source("pd_op.cast", {"x"}, {"t"});
//   drr.source("pd_op.cast", {"t"}, {"y"}, {Drr::capture("dtype", "to")});
//   drr.where([](const DrrMatch& m) { return m.value("x").dtype() == DType::kFloat16; });
//   drr.result("pd_op.cast", {"x"}, {"y"}, {Drr::use("dtype", "to")});
//   patterns.add(drr.build());
//
// Names stand for values: the same name twice is the same value. What source operations make and the result makes again
// is replaced; what only lies between source operations must not be used elsewhere. "" is an absent optional operand,
// "_" any. Everything is plain data and functions, so that a language binding can drive it.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pir/rewrite/pattern.h"

namespace paddle::pir {

class DrrMatch {
 public:
  Value value(const std::string& name) const;                  // InternalError if the pattern has no such value
  Attribute attr(const std::string& captured) const;           // null if the attribute was absent
  Operation* op(size_t source) const { return ops_[source]; }  // the source operation of that number
  const std::vector<Operation*>& ops() const { return ops_; }

 private:
  friend class DrrPattern;
  std::map<std::string, Value> values_;
  std::map<std::string, Attribute> attrs_;
  std::vector<Operation*> ops_;
};

struct DrrAttr {
  std::string name;
  enum Kind { kLiteral, kCapture, kUse, kCompute } kind = kLiteral;
  Attribute literal;                                  // source: must be equal; result: is set
  std::string captured;                               // kCapture: remembered under this name; kUse: taken from there
  std::function<Attribute(const DrrMatch&)> compute;  // result only
};

class Drr {
 public:
  using Names = std::vector<std::string>;
  using Attrs = std::vector<DrrAttr>;
  explicit Drr(std::string name, int benefit = 1) : name_(std::move(name)), benefit_(benefit) {}

  static DrrAttr literal(std::string name, Attribute value) {
    return {std::move(name), DrrAttr::kLiteral, std::move(value), {}, {}};
  }
  static DrrAttr capture(std::string name, std::string as) {
    return {std::move(name), DrrAttr::kCapture, {}, std::move(as), {}};
  }
  static DrrAttr use(std::string name, std::string captured) {
    return {std::move(name), DrrAttr::kUse, {}, std::move(captured), {}};
  }
  static DrrAttr compute(std::string name, std::function<Attribute(const DrrMatch&)> f) {
    return {std::move(name), DrrAttr::kCompute, {}, {}, std::move(f)};
  }

  // Operands of an operation that is commutative (trait) match in either order. Operands may be fewer than the
  // operation has: the rest must be absent. The numbers count from 0 in the order of the calls.
  size_t source(std::string op, Names operands, Names results, Attrs attrs = {});
  // Result types are inferred by the operation, or given by `types`.
  using TypesFn = std::function<std::vector<Type>(const DrrMatch&)>;
  size_t result(std::string op, Names operands, Names results, Attrs attrs = {}, TypesFn types = {});
  // A source result that becomes one of the source's inputs: y = x.
  void replace(std::string source_value, std::string by_value);
  Drr& where(std::function<bool(const DrrMatch&)> constraint);

  // ValueError if the pattern contradicts itself: unknown names, parts that hang together by no value, nothing
  // replaced.
  std::unique_ptr<Pattern> build() const;

 private:
  friend class DrrPattern;
  struct Node {
    std::string op;
    Names operands, results;
    Attrs attrs;
    TypesFn types;
  };
  std::string name_;
  int benefit_;
  std::vector<Node> source_, result_;
  std::vector<std::pair<std::string, std::string>> replaced_;
  std::vector<std::function<bool(const DrrMatch&)>> constraints_;
};

}  // namespace paddle::pir
