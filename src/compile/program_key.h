// What a finished program follows from, as bytes: the program as it was captured, how it is to run, the flags, the
// builds of this library and of the code generator, the processor or device, and for a program in parts this rank and
// the others.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compile/pipeline.h"

namespace paddle::compile {

using NamedTensors = std::map<std::string, Tensor>;  // that a program names

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
  Place place() const { return place_; }
  // Passes read weights: what became of the program follows from their elements too.
  bool reads_weights() const { return reads_weights_; }

 private:
  std::string bytes_;
  std::vector<Dim> symbols_;
  Place place_;
  bool reads_weights_ = false;
};

// Why a program like this one isn't kept on disk; empty: it is. (FLAGS_log_level says it once for each reason.)
std::string why_not_kept(const pir::Program& program, const PipelineOptions& options);

// What a finished program is given for the tensors that the captured one names: of distributed ones this rank's part.
NamedTensors given_to(const pir::Program& program, const PipelineOptions& options);

// Elements, dtypes and shapes of the tensors of these names, as a text; nothing where one isn't in the host's memory.
std::optional<std::string> digest_of_weights(const std::set<std::string>& names, const NamedTensors& given);

}  // namespace paddle::compile
