// OpDef: what the IR knows about an operation's kind. There is one class Operation; tables like this one drive
// building, verification, printing and parsing. For operators that have a record, the table is derived from the
// record's OpInfo (names in the order of pd_op); the few other operations (builtin, cf, cinn_op, dist) are described by
// hand in the same form.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/op_info.h"
#include "pir/attribute.h"
#include "pir/type.h"

namespace paddle::pir {

class Operation;
class OpDef;
class AttrMap;
class Value;

// Traits beyond the record's OpTraits, in the same word.
enum PirTraits : uint64_t {
  kTerminator = 1ull << 40,    // ends a block
  kIsolated = 1ull << 41,      // its regions use nothing from outside
  kGraphInput = 1ull << 42,    // brings a value into the program: parameter, data, feed
  kGraphOutput = 1ull << 43,   // takes a value out: set_parameter, shadow_output, fetch
  kConstantLike = 1ull << 44,  // its result is known from its attributes alone
  kInplaceForm = 1ull << 45,   // spelled `op_`: overwrites an operand (programs that were saved after in-place passes)
  kIdentity = 1ull << 46,      // its result is its operand
  kBarrier = 1ull << 47,       // what follows from its result is computed anew: never merged with what was there before
};

// What an operation does beyond computing its results: it isn't removed though unused.
constexpr uint64_t kKeep = uint64_t{kSideEffect} | kCollective | kInplaceOnly | uint64_t{kTerminator} | kGraphInput |
                           kGraphOutput | kInplaceForm;
// Two equal ones aren't merged: each random operator draws its own numbers.
constexpr uint64_t kDistinct = kKeep | uint64_t{kRandom} | uint64_t{kBarrier};

struct OperandDef {
  std::string name;
  bool optional = false;
  bool list = false;      // takes a vector type
  bool variadic = false;  // last operand only: any number of values
  int arg = -1;           // index into OpInfo::args
};
struct AttrDef {
  std::string name;
  bool required = true;
  std::vector<AttrKind> kinds;  // accepted kinds; empty: any
  int arg = -1;
  Attribute default_value;  // null if there is none; Builder fills it in
};
struct ResultDef {
  std::string name;
  bool optional = false;
  bool list = false;
  bool variadic = false;
};

// Result types from operands and attributes; throws a typed Error that names the operation for bad operands.
using InferTypesFn = std::vector<Type> (*)(const OpDef&, std::span<const Value> operands, const AttrMap& attrs);
using VerifyFn = void (*)(const Operation&);                       // throws; common checks have been made
using FoldFn = bool (*)(Operation&, std::vector<Value>& results);  // existing values that equal the results

// Identity of an interface: the address of a static member of the interface's struct (see interface<I>()).
using InterfaceId = const void*;

class OpDef {
 public:
  std::string name;              // with dialect: "pd_op.softmax"
  std::string dialect;           // "pd_op"
  const OpInfo* info = nullptr;  // operators with a record
  std::vector<OperandDef> operands;
  std::vector<AttrDef> attrs;
  std::vector<ResultDef> results;
  uint64_t traits = 0;
  int min_regions = 0, max_regions = 0;
  InferTypesFn infer = nullptr;
  VerifyFn verify = nullptr;
  FoldFn fold = nullptr;

  std::string_view short_name() const { return std::string_view(name).substr(dialect.size() + 1); }
  bool has(uint64_t trait) const { return traits & trait; }
  bool variadic_operands() const { return !operands.empty() && operands.back().variadic; }
  bool variadic_results() const { return !results.empty() && results.back().variadic; }
  int operand_index(std::string_view name) const;  // -1 if there is none
  const AttrDef* attr(std::string_view name) const;
  void fill_defaults(AttrMap& attrs) const;  // the attributes that aren't there and have one

  // An interface is a struct of functions with `static const char id;`. Null if the operation doesn't have it.
  template <class I>
  const I* interface() const {
    return static_cast<const I*>(find_interface(&I::id));
  }
  const void* find_interface(InterfaceId id) const;

 private:
  friend class Registry;
  std::vector<std::pair<InterfaceId, const void*>> interfaces_;
};

// Registration. Safe from several threads; definitions are never removed or changed, so pointers to them stay valid.
const OpDef& register_op(OpDef def);  // a second definition of a name: InternalError unless identical in form
void register_ops(std::span<const OpInfo> records);  // as dialect "pd_op"; registering a record again does nothing
// Attaches an interface (from any layer above) to an operation that is registered already; the table must stay alive.
void attach_interface(std::string_view op_name, InterfaceId id, const void* table);
template <class I>
void attach(std::string_view op_name, const I* table) {
  attach_interface(op_name, &I::id, table);
}

// Where "pd_op" operations that aren't registered yet are looked up (name without dialect) and what names there are.
// The layer that has the records installs it, so that only what is used gets a table.
void set_record_source(const OpInfo* (*find)(std::string_view), std::span<const OpInfo> (*all)());

const OpDef* find_op_def(std::string_view name);  // null if unknown
const OpDef& op_def(
    std::string_view name);  // NotImplementedError naming the operation, and a near name if there is one
// Of a record; the same pointer as find_op_def("pd_op." + info.name).
const OpDef& op_def(const OpInfo& info);
std::vector<std::string> registered_ops();

}  // namespace paddle::pir
