#include <algorithm>
#include <functional>
#include <unordered_map>

#include "base/error.h"
#include "pir/serialize/json.h"

namespace paddle::pir {
namespace {

class Refiner {
 public:
  void block(Block& b) {
    for (size_t i = 0; i < b.num_args(); ++i) fill(b.arg(i));
    for (Operation& op : b) operation(op);
  }

 private:
  static Dim known(Dim d) { return d == Dim(-1) ? new_symbol() : d; }
  static void fill(Value v) {
    if (v.type()) v.set_type(map_dims(v.type(), known));
  }

  // What two types say together. Kernels follow the rule: where the file says otherwise it is damaged, and a program
  // that trusted its sizes would write past the end of tensors. Where the rule makes up a symbol since only running
  // tells, a size that the file knows stays; the executor compares it with what comes out.
  // known: the symbols of the operands.
  static Type merged(Type declared, Type inferred, const std::vector<Dim>& known) {
    if (!declared) return declared;  // a result that the file leaves out
    if (declared.is_vector() && inferred.is_vector() && declared.elements().size() == inferred.elements().size()) {
      std::vector<Type> items;
      for (size_t i = 0; i < declared.elements().size(); ++i)
        items.push_back(merged(declared.elements()[i], inferred.elements()[i], known));
      return Type::vector(items);
    }
    if (declared.is_dist() || inferred.is_dist()) return declared;
    bool same = declared.is_tensor() && inferred.is_tensor() && declared.dtype() == inferred.dtype() &&
                declared.rank() == inferred.rank();
    if (!same) return inferred;
    Shape s;
    for (size_t i = 0; i < declared.shape().size(); ++i) {
      Dim d = declared.shape()[i], rule = inferred.shape()[i];
      s.push_back(d == Dim(-1) || says(rule, known) ? rule : d);
    }
    return declared.with_shape(s);
  }

  static bool says(Dim rule, const std::vector<Dim>& known) {
    if (rule.is_const()) return rule.value() >= 0;
    std::vector<Dim> symbols;
    symbols_of(rule, symbols);
    return std::all_of(symbols.begin(), symbols.end(),
                       [&](Dim s) { return std::find(known.begin(), known.end(), s) != known.end(); });
  }
  static void collect(Type t, std::vector<Dim>& symbols) {
    if (!t) return;
    if (t.is_vector()) {
      for (Type e : t.elements()) collect(e, symbols);
    } else if (t.has_shape()) {
      for (Dim d : t.shape()) symbols_of(d, symbols);
    }
  }

  void operation(Operation& op) {
    for (size_t r = 0; r < op.num_regions(); ++r) {
      for (size_t b = 0; b < op.region(r).size(); ++b) {
        Block& inner = op.region(r).block(b);
        block(inner);
        // A branch's results are what it yields, where the file doesn't know better.
        Operation* yield = inner.terminator();
        bool branch = yield && op.num_regions() == 2 && r == 0 && yield->num_operands() == op.num_results();
        for (size_t i = 0; branch && i < op.num_results(); ++i)
          if (yield->operand(i) && op.region(1).size() == 1) branch_types_[op.result(i)] = yield->operand(i).type();
      }
    }
    if (op.num_regions() == 2) return branches(op);
    const bool ruled = !op.def().info || op.def().info->meta;  // else the record's rules aren't linked here
    if (op.def().infer && ruled) infer(op);
    for (size_t i = 0; i < op.num_results(); ++i) fill(op.result(i));
  }

  void branches(Operation& op) {
    Operation* other = op.region(1).size() == 1 ? op.region(1).front().terminator() : nullptr;
    for (size_t i = 0; i < op.num_results(); ++i) {
      auto it = branch_types_.find(op.result(i));
      bool agree = it != branch_types_.end() && other && i < other->num_operands() && other->operand(i) &&
                   other->operand(i).type() == it->second;
      if (agree) op.result(i).set_type(merged(op.result(i).type(), it->second, {}));
      fill(op.result(i));
    }
  }

  void infer(Operation& op) {
    // Guards asked here are answered when the program runs with true sizes.
    std::vector<DimGuard> guards;
    DimGuardSink sink(&guards);
    try {
      std::vector<Dim> symbols;
      for (Value v : op.operands())
        if (v) collect(v.type(), symbols);
      std::vector<Type> types = op.def().infer(op.def(), op.operands(), op.attrs());
      for (size_t i = 0; i < types.size() && i < op.num_results(); ++i)
        if (types[i]) op.result(i).set_type(merged(op.result(i).type(), types[i], symbols));
    } catch (const Error& e) {
      fail(e.kind(), "[program] {} can't be: {}", op.describe(), e.what());
    }
  }

  std::unordered_map<Value, Type> branch_types_;
};

}  // namespace

void refine_types(Program& program) {
  drop_surplus_results(program);
  Refiner().block(program.block());
}

}  // namespace paddle::pir
