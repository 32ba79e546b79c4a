// pipeline: what happens to a whole program on its way to the executor, in order.
#pragma once
#include "device/place.h"
#include "distributed/partition/partition.h"
#include "executor/executable.h"

namespace paddle::compile {

struct PipelineOptions {
  distributed::Layouts inputs;             // by name, those that are given as this rank's parts
  distributed::Layouts* stayed = nullptr;  // out: results that stay on a mesh of only some of the ranks
  bool cinn = true;                        // fuse and compile, where FLAGS_use_cinn says so too
  bool keep_all_groups = false;            // those that can't be compiled too: for looking at
  bool inference = false;                  // parameters are constants: fold
  Place place;                             // where the program runs
  bool keep_weights = false;               // they change, but rarely: kernels keep them in layouts of their own
};

// Runs every step of pipeline.cc on the program and prepares it for running.
std::shared_ptr<executor::Executable> prepare(pir::Program program, const PipelineOptions& options);

// The steps before fusion, for looking at the program.
void optimise(pir::Program& program, const PipelineOptions& options);

}  // namespace paddle::compile
