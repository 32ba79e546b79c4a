// Finished programs on disk, beside machine code (base/disk_cache.h): what the passes made of a program, with the loops
// of its groups, found by everything that it follows from: the program as it was captured, how it is to run, the flags,
// the build of this library and of the code generator, the processor. A second process that captures the same program
// runs no pass and opens no code generator.
//
// Programs for which that isn't all aren't kept: those with passes of the user's, on other devices than the CPU, cut
// into parts for several ranks, or with parameters folded in.
#pragma once
#include <optional>

#include "compile/pipeline.h"
#include "pir/serialize/bytes.h"

namespace paddle::compile {

class ProgramKey {
 public:
  // purpose: what else decides, as bytes: which gradients are wanted.
  ProgramKey(const pir::Program& program, const PipelineOptions& options, std::string_view purpose = {});
  // Something else that follows from the same, as things are now.
  ProgramKey(const ProgramKey& base, std::string_view purpose);

  bool usable() const { return !bytes_.empty(); }
  const std::string& bytes() const { return bytes_; }
  // Of the program, by which what is kept refers to them.
  const std::vector<Dim>& symbols() const { return symbols_; }

 private:
  std::string bytes_;
  std::vector<Dim> symbols_;
};

using NamedTensors = std::map<std::string, Tensor>;  // that a program names: the bytes hold the elements of others

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
Finished read_finished(pir::ProgramReader& in, const NamedTensors& given);
void write(pir::ProgramWriter& out, std::span<const DimGuard> guards);
std::vector<DimGuard> read_guards(pir::ProgramReader& in);

}  // namespace paddle::compile
