// Finished programs on disk, beside machine code (base/disk_cache.h): what the passes made of a program, with the loops
// of its groups, found by everything that it follows from: the program as it was captured, how it is to run, the flags,
// the build of this library and of the code generator, the processor. A second process that captures the same program
// runs no pass and opens no code generator.
//
// What weights a predictor's passes fold is part of it: an entry by the program alone says which weights passes read,
// one by their elements too what became of the program. Groups of ranks that a program in parts talks in are made anew,
// in the order in which partitioning asked for them, and have their numbers of this process. Programs that aren't kept:
// see why_not_kept().
#pragma once
#include <optional>

#include "compile/pipeline.h"
#include "compile/program_key.h"
#include "pir/serialize/bytes.h"

namespace paddle::compile {

// The guards on sizes of what is found are asked again.
std::optional<Finished> find_finished(const ProgramKey& key, const NamedTensors& given);
void keep_finished(const ProgramKey& key, const NamedTensors& given, const Finished& finished,
                   std::span<const DimGuard> guards);

// Puts the questions to whoever collects guards now; false if the answer of one is another today.
bool ask_again(std::span<const DimGuard> guards);

// Programs found and kept since the process began.
struct ProgramCounts {
  int64_t found = 0, kept = 0;
};
ProgramCounts program_counts();
void note_found();
void put_entry(const ProgramKey& key, const std::string& bytes);

// ---- parts of entries, for entries that hold more than one program

void write(pir::ProgramWriter& out, const pir::Program& program, const NamedTensors& given);
pir::Program read_program(pir::ProgramReader& in, const NamedTensors& given);
void write(pir::ProgramWriter& out, const Finished& finished, const NamedTensors& given);
Finished read_finished(pir::ProgramReader& in, const NamedTensors& given, Place place);
void write(pir::ProgramWriter& out, std::span<const DimGuard> guards);
std::vector<DimGuard> read_guards(pir::ProgramReader& in);
void write(pir::ProgramWriter& out, const distributed::Layouts& layouts);
distributed::Layouts read_layouts(pir::ProgramReader& in);

}  // namespace paddle::compile
