// Passes over programs that every pipeline needs. Each is also registered by name (register.cc); all ask traits and
// tables, none changes what a program computes.
#pragma once
#include <functional>

#include "api/op_call.h"
#include "pir/rewrite/pass.h"

namespace paddle::passes {

// Removes operations whose results nobody uses and that do nothing else. Returns how many.
size_t remove_dead_code(pir::Operation& root);

// Merges equal operations on equal operands (also into regions below). Random operators and those with side effects
// stay.
size_t merge_common_subexpressions(pir::Operation& root);

// Rewrites that keep values bit for bit: casts to the same type, transposes and reshapes in a row, views that change
// nothing, branches whose condition is known, lists taken apart right after they were made. Returns the rewrites made.
size_t canonicalise(pir::Operation& root);

// Computes one operation from its operands' values. Throws if it can't; the operation then stays.
using ConstantEvaluator =
    std::function<std::vector<OutSlot>(const pir::Operation& op, std::span<const OutSlot> operands)>;
std::vector<OutSlot> evaluate_eagerly(const pir::Operation& op, std::span<const OutSlot> operands);

struct FoldOptions {
  bool parameters = false;  // parameters are constants too: for inference only
  size_t max_bytes =
      1 << 20;  // of one result; larger ones are not folded, so that a program doesn't grow beyond its inputs
  size_t max_parameter_bytes = size_t{1} << 31;  // the same where an operand is a parameter
  size_t inline_bytes = 256;                     // larger results are kept with the program's parameters, and named
};
// Replaces operations whose operands are all constant by their value. Returns how many.
size_t fold_constants(pir::Program& program, const ConstantEvaluator& evaluate, const FoldOptions& options = {});

// Makes the passes of this folder known by name, once: dead_code, common_subexpression, canonicalise, constant_folding.
// (Runs when the library is loaded.)
void register_passes();

}  // namespace paddle::passes
