// Passes over programs that every pipeline needs. Each is also registered by name (register.cc); all ask traits and
// tables, none changes what a program computes.
#pragma once
#include <functional>
#include <set>
#include <string>

#include "api/op_call.h"
#include "pir/rewrite/pass.h"

namespace paddle::passes {

// Removes operations whose results nobody uses and that do nothing else. Returns how many.
size_t remove_dead_code(pir::Operation& root);

// Merges equal operations on equal operands (also into regions below). Random operators and those with side effects
// stay.
size_t merge_common_subexpressions(pir::Operation& root);

// Rewrites that keep values bit for bit: casts to the same type, transposes and reshapes in a row, transposes before a
// product, views that change nothing, branches whose condition is known, lists taken apart right after they were made.
// Returns the rewrites made.
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
  std::set<std::string>* read = nullptr;         // out: the parameters whose elements were looked at
};
// Replaces operations whose operands are all constant by their value. Returns how many.
size_t fold_constants(pir::Program& program, const ConstantEvaluator& evaluate, const FoldOptions& options = {});

// A sum over matrices of their products, as it is the gradient of a weight that all of them were multiplied with, is
// one product over the rows of all: by rounding other values, in less time and memory.
size_t join_products(pir::Operation& root);

// Products around a softmax that nobody else reads become `attention`. training: not where the mask needs a gradient,
// which only the composition gives without making all weights twice.
size_t fuse_attention(pir::Operation& root, bool training = false);

// ---- for programs that write no weights, on a CPU

// Parameters that are written with what they hold are not written.
size_t drop_unchanged_writes(pir::Operation& root);
// A convolution and what multiplies and adds numbers per channel that follow from weights become one with another
// filter and a sum: by rounding other values.
size_t fold_scales(pir::Operation& root);
// A convolution or a product with what follows it (numbers per channel, a sum, an activation) becomes the operator
// whose record says in `fuses` that it computes all that.
size_t fuse_epilogue(pir::Operation& root);
// Connected convolutions and what lies between them run with channels last; values at the border are transposed.
size_t channels_last(pir::Operation& root);
// What follows from weights alone, and is no larger than they are, moves into a builtin.hold: it is computed at the
// first run, and again when a weight was changed.
size_t hold_weights(pir::Operation& root);

// Makes the passes of this folder known by name, once. (Runs when the library is loaded.)
void register_passes();

}  // namespace paddle::passes
