// Programs as Paddle 3 saves them: the `.json` that paddle.jit.save and save_inference_model write, in both directions.
// What is read and written again is the same JSON. Sizes that Paddle writes as -1 stay -1 until refine_types() gives
// them symbols; symbolic sizes are written as -1, with the expression beside it under a key that Paddle ignores.
#pragma once
#include <string>
#include <string_view>

#include "pir/program.h"

namespace paddle::pir {

constexpr int kJsonVersion = 4;  // written; 1 to this are read

struct JsonInfo {
  int version = kJsonVersion;
  bool trainable = true;
  // Written beside the version, where official Paddle looks at no other key: a digest of the program and one of its
  // parameters (digest_of_tensors), by which a reader of ours finds out that bytes changed. A file without is believed.
  bool digest = false;
  std::string parameters_digest;
};
// The reader leaves the parameters' digest on the module under this name; load_parameters() compares and removes it.
inline constexpr const char* kParametersDigest = "parameters_digest";

// ValueError for text that is no such program (with what is wrong, and where: block, operation number and name);
// NotImplementedError for a version, operations, attributes or types that this library doesn't know, with all their
// names.
Program program_from_json(std::string_view text, JsonInfo* info = nullptr);
// NotImplementedError where the program holds what the format can't say.
std::string program_to_json(const Program& program, const JsonInfo& info = {}, int indent = -1);

// Every -1 of the program's inputs becomes a symbol, and the types after it what the operators' shape rules say; sizes
// that no rule knows become symbols of their own. The program must be verified. A rule's error for operands that don't
// fit, with the operation's name.
void refine_types(Program& program);
// Results that official Paddle's operations have and the records don't (batch_norm's reserve space) go, where nobody
// uses them. refine_types() begins with this.
void drop_surplus_results(Program& program);

}  // namespace paddle::pir
