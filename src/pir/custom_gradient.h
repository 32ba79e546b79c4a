// Gradients that the user wrote, as operations with regions.
//
// cf.custom_grad(inputs..., computed...) -> results. A result is what was computed; its gradient is not derived from
// how it was computed but is what a region says: its arguments are the gradients of the results, it yields those of the
// inputs and may use any value that is seen where the operation stands. There is one region for each set of results
// that may have received a gradient (attribute "given": bit i for result i); with a single region, zeros stand for
// those that received none. "grads_<r>" says to which inputs region r's values belong.
//
// cf.grad_hook(x): where the gradient of x is complete, the region gives what takes its place. "id" names it.
//
// differentiate() writes the regions out where it goes by; nothing after it knows these operations.
#pragma once
#include "pir/operation.h"

namespace paddle::pir {

constexpr std::string_view kCustomGrad = "cf.custom_grad";
constexpr std::string_view kGradHook = "cf.grad_hook";

inline bool is_custom_gradient(const Operation& op) { return op.is(kCustomGrad) || op.is(kGradHook); }

size_t num_inputs(const Operation& custom_grad);
// The inputs that the values of region r belong to.
std::vector<size_t> gradient_inputs(const Operation& custom_grad, size_t r);
// The region for the results that have a gradient (bits of `given`); zeros fill in for arguments not among them.
size_t gradient_region(const Operation& custom_grad, uint64_t given);
// Hooks on a value, in the order of registration.
std::vector<Operation*> gradient_hooks(Value v);

// What is left when gradients have been taken, or aren't: results are what was computed. How many there were.
size_t drop_custom_gradients(Operation& root);

std::vector<OpDef> custom_gradient_ops();

}  // namespace paddle::pir
