#include "executor/memory_report.h"

#include <algorithm>
#include <map>

#include "executor/executable.h"
#include "executor/frame.h"

namespace paddle::executor {
namespace {

std::string name_of(const Instruction& i) {
  if (!i.source) return "constant";
  std::string name(i.source->def().short_name());
  if (i.source->num_regions() && i.kind == Kind::kGroup) {
    name.clear();
    size_t shown = 0;
    for (const pir::Operation& op : i.source->region(0).front()) {
      if (op.has(pir::kTerminator)) continue;
      if (shown++ == 4) {
        name += " + ...";
        break;
      }
      name += (name.empty() ? "" : " + ") + std::string(op.def().short_name());
    }
  }
  return i.where.empty() ? name : name + " (" + i.where + ")";
}

class Names {
 public:
  explicit Names(const Code& code) { walk(code); }
  std::map<uint32_t, std::string> of_slot, of_instruction;

 private:
  void walk(const Code& code) {
    for (const Instruction& i : code.list) {
      const std::string name = name_of(i);
      of_instruction[i.id] = name;
      for (size_t k = 0; k < i.results.size(); ++k) {
        const bool list = k < i.result_lists.size() && i.result_lists[k];
        if (i.results[k] != kNone && !list) of_slot[i.results[k]] = name;
      }
      if (i.body) walk(*i.body);
      if (i.otherwise) walk(*i.otherwise);
    }
  }
};

uint32_t peak_of(const MemoryReport& report) {
  std::map<uint32_t, int64_t> change;
  for (const MemoryRow& r : report.rows) {
    change[r.first] += static_cast<int64_t>(r.bytes);
    change[r.last + 1] -= static_cast<int64_t>(r.bytes);
  }
  int64_t now = 0, most = 0;
  uint32_t peak = 0;
  for (auto [at, delta] : change)
    if ((now += delta) > most) most = now, peak = at;
  return peak;
}

}  // namespace

// As in the latest run, else for the sizes of the capture and inputs that are given up.
std::unique_ptr<Frame> Executable::frame_to_show() const {
  std::unique_ptr<Frame> frame = fresh_frame();
  std::lock_guard lock(mutex_);
  if (!idle_.empty()) {
    frame->symbols = idle_.back()->symbols;
    frame->given_up = idle_.back()->given_up;
  } else {
    frame->given_up.assign(memory_->inputs.size(), 1);
    for (const pir::Operation& op : program_.block()) {
      if (!op.has(pir::kGraphInput) || !op.result().type().has_shape()) continue;
      for (Dim d : op.result().shape())
        if (d.is_symbolic() && node_of(d).op == DimOp::kSymbol)
          frame->symbols[symbol_index_.at(node_of(d).value)] = d.hint();
    }
  }
  frame->prepare(*code_, *memory_, true);
  return frame;
}

MemoryReport Executable::memory_report(std::string name) const {
  const std::unique_ptr<Frame> frame = frame_to_show();
  const Names names(*code_);
  MemoryReport report{std::move(name), frame->layout.bytes, frame->least_arena()};
  report.operations.emplace_back("inputs");
  for (auto& [id, text] : names.of_instruction) {
    report.operations.resize(id);
    report.operations.push_back(text);
  }
  report.instructions = static_cast<uint32_t>(report.operations.size()) - 1;
  std::map<uint32_t, std::string> first_value;  // per buffer
  for (const MemoryModel::Value& v : memory_->values) first_value.try_emplace(v.buffer, names.of_slot.at(v.slot));
  std::vector<std::string> lenders;
  for (size_t k = 0; k < frame->given_up.size(); ++k) {
    const MemoryModel::Input& i = memory_->inputs[k];
    if (!frame->given_up[k]) continue;
    lenders.push_back(input_names_[i.input]);
    const size_t bytes = frame->bytes_of(memory_->buffers[i.buffer]);
    report.rows.push_back({lenders.back(), lenders.back(), bytes, 0, 0, memory_->buffers[i.buffer].last});
  }
  for (uint32_t b = 0; b < frame->intervals.size(); ++b) {
    const Interval& it = frame->intervals[b];
    if (it.bytes == 0) continue;
    const int lent = frame->layout.lent[b];
    const bool workspace = memory_->buffers[b].group != nullptr;
    report.rows.push_back({workspace ? "workspace of " + names.of_instruction.at(it.first) : first_value[b],
                           lent < 0 ? "arena" : lenders[static_cast<size_t>(lent)], it.bytes, frame->layout.offsets[b],
                           it.first, it.last});
  }
  report.peak = peak_of(report);
  return report;
}

}  // namespace paddle::executor
