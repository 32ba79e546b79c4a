// A program in the form that official Paddle 3 reads from a `.json`: what only this library knows is said in its words.
#pragma once
#include "pir/program.h"

namespace paddle::compile {

// A copy in which
// - sizes that only a call tells are computed by operators (shape64, slice, ...) where an attribute holds them,
// - operators that official Paddle lacks are those that they stand for,
// - operations have the results that official Paddle's have, the surplus ones empty and unused,
// - constants from outside of the program are parameters that the file of parameters holds.
pir::Program official_form(const pir::Program& program);

// Official Paddle writes to arrays in place; here a list is a value. Both ways, in place. NotImplementedError for what
// the other form can't say. From: before refine_types.
void arrays_from_official(pir::Program& program);
void arrays_to_official(pir::Program& program);

}  // namespace paddle::compile
