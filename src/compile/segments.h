// SegmentCache: compiled segments of a function that can't be captured whole. A segment is found again by what it is:
// its operations, the types of what comes in, and the parameters it names.
#pragma once
#include <map>
#include <mutex>
#include <string>

#include "compile/pipeline.h"
#include "dispatch/trace.h"

namespace paddle::compile {

class Runner;

class SegmentCache {
 public:
  explicit SegmentCache(PipelineOptions options) : options_(options) {}

  // The compiled form of `program`: one made before that is equal and takes inputs of these shapes, or a new one.
  // Numbers that were others in an equal program before become inputs.
  std::shared_ptr<Runner> find(dispatch::CapturedProgram&& program, Tensors& inputs, bool& fresh);
  size_t size() const;

 private:
  PipelineOptions options_;
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<std::shared_ptr<Runner>>> known_;
  struct Numbers {
    std::vector<std::string> first;  // as they were in the first program of this form
    std::vector<bool> vary;
  };
  std::map<std::string, Numbers> numbers_;
};

}  // namespace paddle::compile
