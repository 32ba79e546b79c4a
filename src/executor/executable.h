// Executable: a program as a list of instructions, immutable, with everything resolved that can be before the sizes are
// known: kernels, attributes, where values live and when they die. Each run has a frame of its own, so runs may
// overlap.
#pragma once
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/generator.h"
#include "executor/memory_report.h"
#include "pir/program.h"

namespace paddle::executor {

// An assert of the captured program does not hold. Python sees AssertionError.
class AssertionFailed : public Error {
 public:
  using Error::Error;
};

// What random operators drew, by name (pir::kRandomKey), for those that draw the same again.
using DrawnKeys = std::unordered_map<int64_t, RandomKey>;

struct Code;   // a block's instructions
struct Frame;  // a run's values
struct GroupCode;
struct MemoryModel;

class Executable {
 public:
  // Takes the program over, to run on `place`. Groups (cinn_op.group) that aren't in `groups` (which is emptied) are
  // compiled; those that can't be have been dissolved before. keep_weights: parameters change rarely, so kernels keep
  // them as they like them best (and anew when they did change).
  explicit Executable(pir::Program program, Place place = Place::cpu(), bool keep_weights = false,
                      GroupCode* groups = nullptr);
  ~Executable();
  Executable(const Executable&) = delete;

  // inputs: for each pd_op.data, in order. parameters: for each builtin.parameter, in order; null: those that the
  // program holds. Results: for each shadow_output and set_parameter, in order. A parameter that a set_parameter writes
  // may be overwritten in place while the program runs; its result is then the parameter itself. keys: where given,
  // random operators draw from there instead of from the generator (to run the same again). drawn: where given, named
  // draws are noted there, and replayed ones taken from there: a forward and a backward part share it.
  std::vector<Tensor> run(std::span<const Tensor> inputs, std::span<const Tensor> parameters = {},
                          Generator* keys = nullptr, DrawnKeys* drawn = nullptr) const;

  // The same with inputs that are given up: the memory of those that nobody else holds is freed, or used for something
  // else, as soon as they aren't read any more.
  std::vector<Tensor> consume(std::vector<Tensor> inputs, DrawnKeys* drawn = nullptr) const;

  const pir::Program& program() const { return program_; }
  Place place() const { return place_; }
  const std::vector<std::string>& input_names() const { return input_names_; }
  const std::vector<std::string>& parameter_names() const { return parameter_names_; }
  struct Result {
    std::string name;    // output_name or parameter_name
    int parameter = -1;  // set_parameter: which parameter
  };
  const std::vector<Result>& results() const { return results_; }
  size_t num_instructions() const;
  std::string str() const;  // the instructions, one a line; slot@buffer: where in the arena
  struct MemoryUse {
    size_t arena;  // bytes of a run's arena
    size_t least;  // no layout could do with less
  };
  // input_sizes: of the symbols in the inputs' shapes, in order. given_up: all inputs are.
  MemoryUse memory_use(std::span<const int64_t> input_sizes = {}, bool given_up = false) const;
  // What lies where, as in the latest run, else for the sizes of the capture and with all inputs given up.
  MemoryReport memory_report(std::string name) const;

 private:
  friend class Lowering;
  static constexpr size_t kIdleFrames = 8;
  std::vector<Tensor> run_with(std::span<const Tensor> inputs, std::span<const Tensor> parameters, Generator* keys,
                               DrawnKeys* drawn, std::vector<Tensor>* given_up) const;
  std::vector<int64_t> sizes_in(std::span<const Tensor> inputs) const;
  void put_inputs(Frame& frame, std::span<const Tensor> inputs, std::vector<Tensor>* given_up) const;
  std::vector<Tensor> results_of(Frame& frame) const;
  std::unique_ptr<Frame> fresh_frame() const;
  std::unique_ptr<Frame> frame_to_show() const;
  std::unique_ptr<Frame> take_frame(const std::vector<int64_t>& sizes) const;

  pir::Program program_;
  Place place_;
  bool keep_weights_ = false;
  std::unique_ptr<Code> code_;
  std::unique_ptr<MemoryModel> memory_;
  size_t num_slots_ = 0, num_lists_ = 0;
  std::unordered_map<int64_t, uint32_t> symbol_index_;  // a symbol's id -> its place in a frame
  std::vector<std::string> input_names_, parameter_names_;
  std::vector<uint32_t> input_slots_, parameter_slots_, result_slots_;
  std::vector<Tensor> parameters_;
  std::vector<Result> results_;
  enum class Held : uint8_t { kTensor, kList, kStack };
  std::vector<Held> input_held_, result_held_;  // lists and stacks come and go in bundles (see bundle.h)
  struct InputSymbol {
    uint32_t input, axis, symbol;
  };
  std::vector<InputSymbol> input_symbols_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Frame>> idle_;  // kept for further runs, the last used last
};

}  // namespace paddle::executor
