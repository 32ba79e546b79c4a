#include "compile/program_cache.h"

#include <atomic>
#include <set>

#include "base/build_id.h"
#include "base/cpu_features.h"
#include "base/disk_cache.h"
#include "base/flags.h"
#include "base/parallel_for.h"
#include "cinn/jit/library.h"
#include "cinn/loop/bytes.h"
#include "distributed/partition/partition.h"
#include "pir/rewrite/pass.h"
#include "pir/rewrite/stages.h"

namespace paddle::compile {
namespace {

// Of FLAGS_*, all but where and how much is kept.
std::string flags_text() {
  std::string out;
  for (const flags::Flag& f : flags::all()) {
    if (f.name == "compile_cache_dir" || f.name == "compile_cache_mb") continue;
    out += f.name + "=";
    std::visit([&](const auto& v) { out += fmt::format("{};", v); }, f.value);
  }
  return out;
}

// Passes that the build doesn't tell, or that somebody wants to watch.
bool passes_are_ours() {
  for (const std::string& stage : pir::stage_names())
    if (!pir::passes_of_stage(stage).empty()) return false;
  return !pir::passes_were_changed() && !flags::get_bool("pir_print_passes") && !flags::get_bool("pir_verify_passes") &&
         !flags::get_bool("cinn_print");
}

// Functions of this process that no other has.
bool calls_back(const pir::Program& program) {
  bool found = false;
  program.walk([&](pir::Operation& op) { found |= op.is("cf.host_call"); });
  return found;
}

bool can_be_kept(const pir::Program& program, const PipelineOptions& options) {
  return options.place.is_cpu() && options.inputs.empty() && !options.inference && !options.keep_all_groups &&
         !options.decisions && !distributed::is_distributed(program) && !calls_back(program);
}

// What the passes follow from beside the program, now; empty: not all of it can be said, or nothing can be kept.
std::string surroundings() {
  if (!passes_are_ours() || build_id().empty() || cinn::codegen_identity().empty() || !compile_cache().usable())
    return {};
  return fmt::format("build {}, code generator {}, {} threads, {}, flags {}", build_id(), cinn::codegen_identity(),
                     num_threads(), name_of(cpu_isa()), flags_text());
}

// Tensors whose elements the program computes with; parameters' come with each run.
std::set<std::string> constants_of(const pir::Program& program) {
  std::set<std::string> names;
  program.walk([&](pir::Operation& op) {
    if (op.is("builtin.constant") && op.attr("value").kind() != pir::AttrKind::kDense)
      names.insert(op.attr("value").as_string());
  });
  return names;
}

// Beyond this, reading them to find a program takes longer than finishing it.
constexpr size_t kMostConstants = size_t{32} << 20;

size_t bytes_of(const pir::Program& program, const std::set<std::string>& constants) {
  size_t bytes = 0;
  for (const std::string& name : constants)
    if (const Tensor t = program.parameter(name); t.defined())
      bytes += static_cast<size_t>(t.numel()) * size_of(t.dtype());
  return bytes;
}

}  // namespace

ProgramKey::ProgramKey(const pir::Program& program, const PipelineOptions& options, std::string_view purpose) {
  if (!can_be_kept(program, options)) return;
  const std::string around = surroundings();
  const std::set<std::string> constants = constants_of(program);
  if (around.empty() || bytes_of(program, constants) > kMostConstants) return;
  pir::ProgramWriter w;
  ByteWriter& out = w.out();
  out.text("finished program");
  out.text(around);
  out.number(int64_t{options.cinn});
  out.number(int64_t{options.keep_weights});
  out.text(purpose);
  w.program(program, [&](const std::string& name) { return constants.count(name) > 0; });
  symbols_ = w.symbols();
  bytes_ = w.out().bytes();
}

ProgramKey::ProgramKey(const ProgramKey& base, std::string_view purpose) : symbols_(base.symbols_) {
  const std::string around = base.usable() ? surroundings() : std::string();
  if (!around.empty()) bytes_ = fmt::format("{} {} {}", digest_of(base.bytes_).str(), purpose, around);
}

bool ask_again(std::span<const DimGuard> guards) {
  return std::all_of(guards.begin(), guards.end(), [](const DimGuard& g) { return holds(g.a, g.rel, g.b); });
}

void write(pir::ProgramWriter& out, std::span<const DimGuard> guards) {
  out.out().size(guards.size());
  for (const DimGuard& g : guards) {
    out.dim(g.a);
    out.out().number(g.rel);
    out.dim(g.b);
  }
}

std::vector<DimGuard> read_guards(pir::ProgramReader& in) {
  std::vector<DimGuard> guards(in.in().size());
  for (DimGuard& g : guards) {
    g.a = in.dim();
    g.rel = in.in().number(DimRel::kLe);
    g.b = in.dim();
  }
  return guards;
}

void write(pir::ProgramWriter& w, const pir::Program& program, const NamedTensors& given) {
  w.program(program, [&](const std::string& name) { return !given.count(name); });
}

pir::Program read_program(pir::ProgramReader& r, const NamedTensors& given) {
  pir::Program program = r.program();
  for (const auto& [name, tensor] : given)
    if (!program.parameters().count(name)) program.set_parameter(name, tensor);
  return program;
}

void write(pir::ProgramWriter& w, const Finished& finished, const NamedTensors& given) {
  write(w, finished.program, given);
  ByteWriter& out = w.out();
  finished.program.walk([&](pir::Operation& op) {
    if (!op.is("cinn_op.group")) return;
    const cinn::CompiledRegion& region = finished.code.of.at(&op);
    out.size(region.inputs.size());
    for (pir::Value v : region.inputs) w.value(v);
    out.size(region.symbols.size());
    for (Dim d : region.symbols) w.dim(d);
    const cinn::GroupForm& form = region.code->form();
    out.number(int64_t{form.streaming});
    out.number(form.streaming_bytes);
    out.number(int64_t{form.fast_math});
    out.text(cinn::to_bytes(region.code->module()));
  });
}

Finished read_finished(pir::ProgramReader& r, const NamedTensors& given) {
  Finished finished;
  finished.program = read_program(r, given);
  ByteReader& in = r.in();
  finished.program.walk([&](pir::Operation& op) {
    if (!op.is("cinn_op.group")) return;
    cinn::CompiledRegion region;
    for (size_t n = in.size(); n > 0; --n) region.inputs.push_back(r.value());
    for (size_t n = in.size(); n > 0; --n) region.symbols.push_back(r.dim());
    cinn::GroupForm form;
    form.streaming = in.number(0, 1) != 0;
    form.streaming_bytes = in.number();
    form.fast_math = in.number(0, 1) != 0;
    region.code = cinn::compile_lowered(cinn::module_of(in.text()), form);
    finished.code.of.emplace(&op, std::move(region));
  });
  return finished;
}

std::optional<Finished> find_finished(const ProgramKey& key, const NamedTensors& given) {
  if (!key.usable()) return {};
  const std::optional<std::string> bytes = compile_cache().get(key.bytes());
  if (!bytes) return {};
  try {
    pir::ProgramReader in(*bytes, key.symbols());
    const std::vector<DimGuard> guards = read_guards(in);
    Finished finished = read_finished(in, given);
    if (in.in().done() && ask_again(guards)) {
      note_found();
      return finished;
    }
  } catch (const Error&) {  // made anew
  }
  return {};
}

void keep_finished(const ProgramKey& key, const NamedTensors& given, const Finished& finished,
                   std::span<const DimGuard> guards) {
  if (!key.usable() || finished.by_chance) return;
  pir::ProgramWriter out(key.symbols());
  write(out, guards);
  write(out, finished, given);
  put_entry(key, out.out().bytes());
}

namespace {
std::atomic<int64_t> found_count{0}, kept_count{0};
}

ProgramCounts program_counts() { return {found_count.load(), kept_count.load()}; }
void note_found() { found_count.fetch_add(1); }

void put_entry(const ProgramKey& key, const std::string& bytes) {
  compile_cache().put(key.bytes(), bytes);
  kept_count.fetch_add(1);
}

}  // namespace paddle::compile
