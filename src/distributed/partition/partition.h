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

using Layouts = std::map<std::string, std::shared_ptr<const spmd::DistAttr>>;  // by the name of an input or a result

// Whether a parameter of the program is spread over a mesh, or something in it is put on one.
bool is_distributed(const pir::Program& program);

// The program of this rank. Inputs are whole on every rank but for those that are named, results come out whole;
// parameters (builtin.parameter, and what set_parameter writes) are this rank's parts, and so are their tensors in
// Program::parameters(). Of what lies on a mesh that this rank is not in, it has an empty placeholder. Inside of
// regions (if, while) everything is whole on all ranks of the program's meshes.
struct PartitionOptions {
  Layouts inputs;  // how inputs (pd_op.data) lie: this rank's part is what it is given
  // Out, may be null: how results lie that stay on a mesh of only some of the ranks, whole there. Without it they go to
  // all ranks.
  Layouts* stayed = nullptr;
  // How results (shadow_output) shall lie, by name; those that aren't named come out whole.
  Layouts results;
  // In: an operation of the whole program; out: the last one of the new program that was made for it. May be null.
  const pir::Operation** mark = nullptr;
};
pir::Program partition(const pir::Program& whole, const PartitionOptions& options = {});

// Where each value of the whole program would lie: "operator: inputs -> outputs", one line an operation. For reports.
std::string describe_partition(const pir::Program& whole);

}  // namespace paddle::distributed
