// translate: a set of PIR operations as a Group. Thin: what an operator computes is read from its record (expr,
// combine); only operators that move elements have a rule here, since a record does not say how.
#pragma once
#include <span>
#include <vector>

#include "cinn/compute/group.h"
#include "pir/operation.h"

namespace paddle::cinn {

struct TranslatedGroup {
  Group group;
  std::vector<pir::Value> inputs;  // by slot: values that operations outside define
  std::vector<Dim> symbols;        // by position: the expressions whose values CompiledGroup::run wants as sizes
  // Inputs that are no values (null in `inputs`): buffers of one f64, float attributes that the caller passes.
  struct Number {
    size_t input;
    const pir::Operation* op;
    std::string attribute;
  };
  std::vector<Number> numbers;
};

struct TranslateOptions {
  bool loops = false;           // operators with a loop rule too: for devices without kernels
  bool numbers_at_run = false;  // learning rates and the like are inputs instead of constants
};

// Whether translate knows the operation: real or integer element types, an expression, a combiner or an index map.
bool translatable(const pir::Operation& op);
bool translatable(const pir::Operation& op, const TranslateOptions& options);

// ops: in order, each before its users. outputs: results of theirs, by slot. Raises NotImplementedError for what can't
// be said (a start of a slice that only running tells).
TranslatedGroup translate(std::span<pir::Operation* const> ops, std::span<const pir::Value> outputs,
                          const TranslateOptions& options = {});

}  // namespace paddle::cinn
