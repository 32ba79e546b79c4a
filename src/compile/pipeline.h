// pipeline: what happens to a whole program on its way to the executor, in order.
#pragma once
#include <set>
#include <string>

#include "compile/kept_groups.h"
#include "device/place.h"
#include "distributed/partition/partition.h"
#include "executor/executable.h"
#include "executor/group_code.h"

namespace paddle::cinn {
struct FusionDecision;
}

namespace paddle::compile {

struct CutRow;

struct PipelineOptions {
  distributed::Layouts inputs;                             // by name, those that are given as this rank's parts
  distributed::Layouts* stayed = nullptr;                  // out: results that stay on a mesh of only some of the ranks
  bool cinn = true;                                        // fuse and compile, where FLAGS_use_cinn says so too
  bool keep_all_groups = false;                            // those that can't be compiled too: for looking at
  std::vector<cinn::FusionDecision>* decisions = nullptr;  // out: what fusion joined and what not, and why
  bool inference = false;                                  // parameters are constants: fold
  Place place;                                             // where the program runs
  bool keep_weights = false;           // they change, but rarely: kernels keep them in layouts of their own
  bool simplified = false;             // simplify() has run on what the program was cut from
  std::vector<CutRow>* cut = nullptr;  // out: what a training program keeps for its backward part and what not, and why
};

// A program after every step, with the code of its groups.
struct Finished {
  pir::Program program;
  executor::GroupCode code;
  bool by_chance = false;  // another time it would come out better: a budget was used up, or something was missing
  std::set<std::string> weights_read;  // parameters whose elements became part of it
  distributed::Layouts stayed;         // results on a mesh of only some of the ranks
  KeptGroups groups;                   // that partitioning asked for
};

// Will groups of the program be compiled?
bool fuses(const PipelineOptions& options);
// The first steps alone: simplifications, and operators written out as what fusion will join.
void simplify(pir::Program& program, const PipelineOptions& options);
// Runs every step of pipeline.cc on the program.
Finished finish(pir::Program program, const PipelineOptions& options);
std::shared_ptr<executor::Executable> executable(Finished finished, const PipelineOptions& options);
// Both, by way of the programs on disk (program_cache.h): the program there may have been finished by another process.
std::shared_ptr<executor::Executable> prepare(const pir::Program& program, const PipelineOptions& options);

// The steps alone, for looking at the program.
void optimise(pir::Program& program, const PipelineOptions& options);

}  // namespace paddle::compile
