// The partition pass: a captured program speaks of whole tensors; what each rank runs speaks of its parts. The program is
// gone through once by the dist interpreter, whose calls are captured again: the same rules and the same reshard plans as
// in eager, with collectives as operators (ops/collective.yaml).
#pragma once
#include <string>

#include "pir/program.h"

namespace paddle::distributed {

// Whether a parameter of the program is spread over a mesh.
bool is_distributed(const pir::Program& program);

// The program of this rank. Inputs are whole on every rank, results come out whole; parameters (builtin.parameter, and
// what set_parameter writes) are this rank's parts, and so are their tensors in Program::parameters().
// Inside of regions (if, while) everything is whole.
pir::Program partition(const pir::Program& whole);

// Where each value of the whole program would lie: "operator: inputs -> outputs", one line an operation. For reports.
std::string describe_partition(const pir::Program& whole);

}  // namespace paddle::distributed
