// TrainingProgram on disk: one entry holds the forward part, finished, and the backward part as it was cut; another the
// backward part, finished, once a backward was run.
#include "base/disk_cache.h"
#include "compile/training.h"
#include "spmd/attr_text.h"

namespace paddle::compile {
namespace {

void write(ByteWriter& out, const std::vector<size_t>& list) {
  out.size(list.size());
  for (size_t n : list) out.size(n);
}

std::vector<size_t> read_list(ByteReader& in) {
  std::vector<size_t> list(in.size());
  for (size_t& n : list) n = static_cast<size_t>(in.number(0, INT32_MAX));
  return list;
}

}  // namespace

void TrainingProgram::keep(const Finished& forward, std::span<const DimGuard> guards) const {
  if (!key_.usable() || forward.by_chance) return;
  pir::ProgramWriter backward(key_.symbols());
  compile::write(backward, backward_program_, tensors_);
  pir::ProgramWriter w(key_.symbols());
  ByteWriter& out = w.out();
  out.text(backward.out().bytes());
  out.size(num_kept_);
  write(out, grad_inputs_);
  write(out, grad_results_);
  for (const auto& attr : grad_attrs_) out.text(attr ? spmd::encode(*attr) : std::string());
  compile::write(w, guards);
  compile::write(w, forward, tensors_);
  put_entry(key_, out.bytes());
}

bool TrainingProgram::restore() {
  if (!key_.usable()) return false;
  const std::optional<std::string> bytes = compile_cache().get(key_.bytes());
  if (!bytes) return false;
  try {
    pir::ProgramReader r(*bytes, key_.symbols());
    ByteReader& in = r.in();
    std::string backward(in.text());
    const auto num_kept = static_cast<size_t>(in.number(0, INT32_MAX));
    std::vector<size_t> grad_inputs = read_list(in), grad_results = read_list(in);
    std::vector<std::shared_ptr<const spmd::DistAttr>> grad_attrs(grad_results.size());
    for (auto& attr : grad_attrs)
      if (const std::string_view text = in.text(); !text.empty())
        attr = std::make_shared<spmd::DistAttr>(spmd::decode(text));
    const std::vector<DimGuard> guards = read_guards(r);
    Finished forward = read_finished(r, tensors_, options_.place);
    if (!in.done() || !ask_again(guards)) return false;
    backward_bytes_ = std::move(backward);
    num_kept_ = num_kept;
    grad_inputs_ = std::move(grad_inputs);
    grad_results_ = std::move(grad_results);
    grad_attrs_ = std::move(grad_attrs);
    groups_ = forward.groups;
    stayed_ = forward.stayed;
    forward_ = executable(std::move(forward), options_);
    note_found();
    return true;
  } catch (const Error&) {  // made anew
    return false;
  }
}

Finished TrainingProgram::finished_backward() {
  const ProgramKey key(key_, "backward");
  if (std::optional<Finished> known = find_finished(key, tensors_)) return std::move(*known);
  if (!backward_bytes_.empty()) {
    pir::ProgramReader in(backward_bytes_, key_.symbols());
    backward_program_ = read_program(in, tensors_);
    groups_.renumber(backward_program_);
  }
  Finished finished = finish(std::move(backward_program_), options_);
  finished.groups = groups_;
  keep_finished(key, tensors_, finished, {});
  return finished;
}

}  // namespace paddle::compile
