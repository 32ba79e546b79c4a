// Executable: running a program with a frame; how it reads for people.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "device/default_place.h"
#include "dispatch/state.h"
#include "dispatch/trace.h"
#include "executor/bundle.h"
#include "executor/frame.h"
#include "executor/lower.h"
#include "tensor/shown_shape.h"

namespace paddle::executor {

Executable::Executable(pir::Program program, Place place, bool keep_weights, GroupCode* groups)
    : program_(std::move(program)), place_(place), keep_weights_(keep_weights) {
  lower(*this, groups);
}
Executable::~Executable() = default;

namespace {
constexpr int64_t kElsewhere = -1;  // no size: some of the tensors are on another device

size_t count(const Code& c) {
  size_t n = c.list.size();
  for (const Instruction& i : c.list) {
    if (i.body) n += count(*i.body);
    if (i.otherwise) n += count(*i.otherwise);
  }
  return n;
}
void write(const Code& c, const MemoryModel& memory, const std::string& indent, std::string& out) {
  for (const Instruction& i : c.list) {
    out += indent + (i.source ? std::string(i.source->name()) : "?");
    for (uint32_t s : i.operands) out += s == kNone ? " -" : " " + std::to_string(s);
    out += " ->";
    for (size_t k = 0; k < i.results.size(); ++k) {
      const uint32_t s = i.results[k];
      out += s == kNone ? " -" : " " + std::to_string(s);
      const bool list = k < i.result_lists.size() && i.result_lists[k];
      if (s != kNone && !list && memory.buffer_of[s] != kNone) out += "@" + std::to_string(memory.buffer_of[s]);
    }
    if (!i.frees.empty()) out += "  frees";
    for (uint32_t s : i.frees) out += " " + std::to_string(s);
    out += i.reuse >= 0 ? "  in place\n" : "\n";
    if (i.body) write(*i.body, memory, indent + "  ", out);
    if (i.otherwise) write(*i.otherwise, memory, indent + "  ", out);
  }
}
}  // namespace

size_t Executable::num_instructions() const { return count(*code_); }
std::string Executable::str() const {
  std::string out;
  write(*code_, *memory_, "", out);
  return out;
}

Executable::MemoryUse Executable::memory_use(std::span<const int64_t> input_sizes, bool given_up) const {
  std::unique_ptr<Frame> frame = fresh_frame();
  if (given_up) frame->given_up.assign(memory_->inputs.size(), 1);
  for (size_t k = 0; k < input_symbols_.size() && k < input_sizes.size(); ++k)
    frame->symbols[input_symbols_[k].symbol] = input_sizes[k];
  frame->prepare(*code_, *memory_, true);
  return {frame->layout.bytes, frame->least_arena()};
}

std::unique_ptr<Frame> Executable::fresh_frame() const {
  auto frame = std::make_unique<Frame>();
  frame->tensors.resize(num_slots_);
  frame->lists.resize(num_lists_);
  frame->stacks.resize(num_lists_);
  frame->symbols.assign(symbol_index_.size(), Frame::kUntold);
  frame->symbol_index = &symbol_index_;
  return frame;
}

// One that was prepared for these sizes, else one to prepare.
std::unique_ptr<Frame> Executable::take_frame(const std::vector<int64_t>& sizes) const {
  std::unique_ptr<Frame> frame;
  {
    std::lock_guard lock(mutex_);
    auto fits = std::find_if(idle_.rbegin(), idle_.rend(), [&](auto& f) { return f->input_sizes == sizes; });
    if (fits != idle_.rend()) {
      frame = std::move(*fits);
      idle_.erase(std::next(fits).base());
      return frame;
    }
    if (idle_.size() >= kIdleFrames) {
      frame = std::move(idle_.front());
      idle_.erase(idle_.begin());
    }
  }
  if (!frame) frame = fresh_frame();
  frame->input_sizes = sizes;
  frame->stale = true;
  return frame;
}

std::vector<int64_t> Executable::sizes_in(std::span<const Tensor> inputs) const {
  std::vector<int64_t> sizes;
  for (const InputSymbol& s : input_symbols_) {
    const Tensor& t = inputs[s.input];
    check(s.axis < t.shape().size(), ErrorKind::kValue,
          "input {} \"{}\": the program expects more than {} dimensions, got {}", s.input, input_names_[s.input],
          s.axis, shown(t.shape()));
    sizes.push_back(t.size(s.axis));
  }
  return sizes;
}

// Per input of the memory model: may the run have its memory?
static std::vector<uint8_t> sole_owners(const MemoryModel& memory, std::span<const Tensor> inputs) {
  std::vector<uint8_t> out;
  for (const MemoryModel::Input& i : memory.inputs) {
    const Tensor& t = inputs[i.input];
    out.push_back(t.defined() && sole_owner(t) && t->offset == 0 && t.is_contiguous());
  }
  return out;
}

void Executable::put_inputs(Frame& frame, std::span<const Tensor> inputs, std::vector<Tensor>* given_up) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (input_held_[i] == Held::kTensor && given_up)
      frame.tensors[input_slots_[i]] = std::move((*given_up)[i]);
    else if (input_held_[i] == Held::kTensor)
      frame.tensors[input_slots_[i]] = inputs[i];
    else if (input_held_[i] == Held::kList)
      frame.lists[input_slots_[i]] = bundle_of(inputs[i]).items.at(0).at(0).list;
    else
      frame.stacks[input_slots_[i]] = bundle_of(inputs[i]).items;
  }
}

std::vector<Tensor> Executable::results_of(Frame& frame) const {
  std::vector<Tensor> out;
  out.reserve(result_slots_.size());
  for (size_t k = 0; k < result_slots_.size(); ++k) {
    uint32_t s = result_slots_[k];
    if (result_held_[k] == Held::kTensor)
      out.push_back(frame.tensors[s]);
    else if (result_held_[k] == Held::kList)
      out.push_back(bundled({{OutSlot{{}, frame.lists[s]}}}));
    else
      out.push_back(bundled(frame.stacks[s]));
  }
  return out;
}

std::vector<Tensor> Executable::run(std::span<const Tensor> inputs, std::span<const Tensor> parameters, Generator* keys,
                                    DrawnKeys* drawn) const {
  return run_with(inputs, parameters, keys, drawn, nullptr);
}

std::vector<Tensor> Executable::consume(std::vector<Tensor> inputs, DrawnKeys* drawn) const {
  return run_with(inputs, {}, nullptr, drawn, &inputs);
}

std::vector<Tensor> Executable::run_with(std::span<const Tensor> inputs, std::span<const Tensor> parameters,
                                         Generator* keys, DrawnKeys* drawn, std::vector<Tensor>* given_up) const {
  check(inputs.size() == input_slots_.size(), ErrorKind::kValue, "the program expects {} inputs, got {}",
        input_slots_.size(), inputs.size());
  std::vector<int64_t> sizes = sizes_in(inputs);
  auto on_host = [](const Tensor& t) { return !t.defined() || t.place().is_cpu(); };
  const std::span<const Tensor> held(parameters.empty() ? std::span<const Tensor>(parameters_) : parameters);
  const bool host = place_.is_cpu() && std::all_of(inputs.begin(), inputs.end(), on_host) &&
                    std::all_of(held.begin(), held.end(), on_host);
  std::vector<uint8_t> owned;
  if (given_up && host) owned = sole_owners(*memory_, inputs);
  // Frames of other kinds.
  if (!host) sizes.push_back(kElsewhere);
  sizes.insert(sizes.end(), owned.begin(), owned.end());
  std::unique_ptr<Frame> frame = take_frame(sizes);
  device::PlaceScope scope(place_);
  frame->place = place_;
  frame->keys = keys ? keys : &generator();
  frame->drawn = drawn ? drawn : &frame->own_drawn;
  for (size_t k = 0; k < input_symbols_.size(); ++k) frame->symbols[input_symbols_[k].symbol] = sizes[k];
  if (std::exchange(frame->stale, false)) {
    frame->given_up = std::move(owned);
    frame->prepare(*code_, *memory_, host);
  }
  put_inputs(*frame, inputs, given_up);
  compare(code_->arg_checks, *frame, nullptr);
  for (size_t i = 0; i < parameter_slots_.size(); ++i)
    frame->tensors[parameter_slots_[i]] = i < parameters.size() ? parameters[i] : parameters_[i];
  std::vector<Tensor> out;
  {
    dispatch::StackScope alone;
    dispatch::GradMode off(false);
    frame->enter(*memory_);
    // A frame whose run failed is dropped with what it holds.
    run_code(*code_, *frame);
    out = results_of(*frame);
  }
  frame->leave();
  std::lock_guard lock(mutex_);
  idle_.push_back(std::move(frame));
  return out;
}

}  // namespace paddle::executor
