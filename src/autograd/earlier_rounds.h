// Gradients that leave the body of a loop under construction.
//
// A gradient that is asked for inside a loop's body goes, where it arrives at the body's arguments, on through the
// rounds that have run before and from there to what stands before the loop. What a round does is known only when the
// body is complete. So the walk ends at the arguments with one operation that has what is left to do:
//
//   cf.earlier_rounds_grad(body, arguments, their gradients, outer values, their gradients, inner values, their
//                          gradients, inputs, unreached, stops) -> the gradients of `inputs`
//
// "parts" says how many of each; `body` is the first argument of the loop's body. An input lies before the loop, or is
// an argument: then it is the tensor that the round before gave. `unreached` are inputs that got no gradient in this
// round and, by what is known yet, none from before. Where the walk meets such an operation (a gradient of a gradient),
// it ends there: what it has arrived at in this round are the inner values, and an input may be one.
//
// When the loop is complete, the operation becomes a loop of its own, from the last round back to the first. It runs
// each round once more, from what the variables were at its start (lists that the loop carries), and differentiates
// that; what comes after, outside of the loop, is differentiated in its place. All of it is made of operations like any
// other, so every order of derivative exists.
#pragma once
#include <vector>

#include "pir/operation.h"

namespace paddle::autograd {

constexpr std::string_view kEarlierRounds = "cf.earlier_rounds_grad";

struct EarlierRoundsParts {
  pir::Value body;
  std::vector<pir::Value> arguments, argument_grads, outer, outer_grads, inner, inner_grads, inputs, unreached, stops;

  std::vector<pir::Value> operands() const;
  pir::AttrMap attrs() const;
  static EarlierRoundsParts of(const pir::Operation& op);
};

}  // namespace paddle::autograd
