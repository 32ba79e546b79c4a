// The partition pass: a captured program speaks of whole tensors; what each rank runs speaks of its parts. The program
// is gone through once by the dist interpreter, whose calls are captured again: the same rules and the same reshard
// plans as in eager, with collectives as operators (ops/collective.yaml).
#pragma once
#include <map>
#include <memory>
#include <string>

#include "pir/program.h"
#include "spmd/placement.h"

namespace paddle::distributed {

// Whether a parameter of the program is spread over a mesh.
bool is_distributed(const pir::Program& program);

// The program of this rank. Inputs are whole on every rank, results come out whole; parameters (builtin.parameter, and
// what set_parameter writes) are this rank's parts, and so are their tensors in Program::parameters().
// Inside of regions (if, while) everything is whole.
struct PartitionOptions {
  // How results (shadow_output) shall lie, by name; those that aren't named come out whole.
  std::map<std::string, std::shared_ptr<const spmd::DistAttr>> results;
  // In: an operation of the whole program; out: the last one of the new program that was made for it. May be null.
  const pir::Operation** mark = nullptr;
};
pir::Program partition(const pir::Program& whole, const PartitionOptions& options = {});

// Where each value of the whole program would lie: "operator: inputs -> outputs", one line an operation. For reports.
std::string describe_partition(const pir::Program& whole);

}  // namespace paddle::distributed
