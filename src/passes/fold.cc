#include <optional>

#include "base/error.h"
#include "passes/passes.h"
#include "pir/builder.h"
#include "pir/constant.h"
#include "pir/effects.h"

namespace paddle::passes {

using pir::Attribute;
using pir::Builder;
using pir::Location;
using pir::Operation;
using pir::Program;
using pir::Type;
using pir::Value;

namespace {

class Folder {
 public:
  Folder(Program& program, const ConstantEvaluator& evaluate, const FoldOptions& options)
      : program_(program), evaluate_(evaluate), options_(options) {}

  size_t run() {
    program_.walk([&](Operation& op) { ops_.push_back(&op); });  // definitions before uses
    for (Operation* op : ops_) folded_ += fold(*op);
    return folded_;
  }

 private:
  bool fold(Operation& op) {
    if (!candidate(op)) return false;
    std::vector<OutSlot> operands;
    bool from_parameter = false;
    for (Value v : op.operands()) {
      std::optional<OutSlot> slot = value_of(v, from_parameter);
      if (!slot) return false;
      operands.push_back(std::move(*slot));
    }
    size_t most = from_parameter ? options_.max_parameter_bytes : options_.max_bytes;
    for (size_t i = 0; i < op.num_results(); ++i)
      if (!fits(op.result(i).type(), most)) return false;
    std::vector<OutSlot> results;
    try {
      results = evaluate_(op, operands);
    } catch (const std::exception&) {
      return false;  // it fails when it runs, if it runs: that is where the user expects the error
    }
    if (results.size() != op.num_results()) return false;
    for (size_t i = 0; i < results.size(); ++i)
      if (!matches(results[i], op.result(i))) return false;
    for (size_t i = 0; i < results.size(); ++i) replace(op, i, std::move(results[i]));
    op.erase();
    return true;
  }

  // Something computes from at least one operand. A result of its own attributes alone (full, arange) is kept as it is:
  // it is shorter than its value.
  static bool candidate(const Operation& op) {
    return op.info() && op.num_operands() > 0 && op.num_regions() == 0 && op.num_results() > 0 && op.block() &&
           pir::is_mergeable(op) && !op.has(kRandom | kDataDependentShape | kControlFlow) && !op.results_unused();
  }

  static bool fits(Type t, size_t most) {
    if (!t) return true;
    if (!t.is_tensor() || !is_static(view(t.shape()))) return false;
    for (Dim d : t.shape())
      if (d.value() < 0) return false;
    Dim n = numel(view(t.shape()));
    return static_cast<uint64_t>(n.value()) <= most / std::max<size_t>(size_of(t.dtype()), 1);
  }

  std::optional<OutSlot> value_of(Value v, bool& from_parameter) {
    OutSlot slot;
    if (!v) return slot;
    if (!v.is_result()) return {};
    Operation& source = *v.defining_op();
    if (source.is("builtin.combine")) {
      for (Value item : source.operands()) {
        auto s = value_of(item, from_parameter);
        if (!s) return {};
        slot.list.push_back(s->tensor);
      }
      return slot;
    }
    slot.tensor = pir::constant_tensor(source, program_, options_.parameters);
    if (slot.tensor.defined()) {
      const bool parameter = source.has(pir::kGraphInput);
      if (parameter && options_.read) options_.read->insert(source.attr("parameter_name").as_string());
      from_parameter |= parameter;
      return slot;
    }
    bool factory = source.info() && source.has(kFactory) && source.num_operands() == 0 && pir::is_mergeable(source) &&
                   !source.has(kRandom);
    if (!factory || !fits(v.type(), options_.max_bytes)) return {};
    try {
      auto made = evaluate_(source, {});
      if (v.index() < made.size() && made[v.index()].tensor.defined()) return made[v.index()];
    } catch (const std::exception&) {
    }
    return {};
  }

  static bool matches(const OutSlot& s, Value result) {
    if (result.use_empty()) return true;
    Type t = result.type();
    return s.tensor.defined() && s.tensor.is_dense() && s.tensor.place().is_cpu() && t.is_tensor() &&
           s.tensor.dtype() == t.dtype() && s.tensor.shape() == t.shape();
  }

  void replace(Operation& op, size_t i, OutSlot slot) {
    Value result = op.result(i);
    if (result.use_empty()) return;
    Builder b;
    b.before(&op);
    b.set_loc(Location::derived("constant_folding", op.loc()));
    pir::DenseData data = pir::dense_of(slot.tensor);
    Value constant;
    if (data.bytes.size() <= options_.inline_bytes) {
      constant = b.constant(std::move(data));
    } else {
      std::string name = fresh_name();
      program_.set_parameter(name, pir::tensor_of(std::move(data)));
      constant = b.create("builtin.constant", {}, {{"value", Attribute::string(name)}}, {result.type()})->result();
    }
    constant.set_stop_gradient(result.stop_gradient());
    result.replace_all_uses_with(constant);
  }

  std::string fresh_name() {
    std::string name;
    do name = fmt::format("constant_{}", next_name_++);
    while (program_.parameters().count(name));
    return name;
  }

  Program& program_;
  const ConstantEvaluator& evaluate_;
  const FoldOptions& options_;
  std::vector<Operation*> ops_;
  size_t folded_ = 0;
  int next_name_ = 0;
};

}  // namespace

size_t fold_constants(Program& program, const ConstantEvaluator& evaluate, const FoldOptions& options) {
  return Folder(program, evaluate, options).run();
}

}  // namespace paddle::passes
