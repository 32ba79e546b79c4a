#include "compile/program_key.h"

#include <set>

#include "base/build_id.h"
#include "base/cpu_features.h"
#include "base/disk_cache.h"
#include "base/flags.h"
#include "base/parallel_for.h"
#include "cinn/jit/device.h"
#include "cinn/jit/library.h"
#include "device/registry.h"
#include "distributed/environment.h"
#include "distributed/reshard.h"
#include "pir/constant.h"
#include "pir/rewrite/pass.h"
#include "pir/rewrite/stages.h"
#include "pir/serialize/bytes.h"
#include "spmd/attr_text.h"
#include "spmd/dist_payload.h"

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

bool in_parts(const pir::Program& program, const PipelineOptions& options) {
  return !options.inputs.empty() || distributed::is_distributed(program);
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

std::string why_not_its_constants(const pir::Program& program) {
  size_t bytes = 0;
  for (const std::string& name : constants_of(program)) {
    const Tensor t = program.parameter(name);
    if (!t.defined()) continue;
    if (!t.is_dense() || !t.place().is_cpu()) return "it holds a constant that isn't in the host's memory";
    bytes += static_cast<size_t>(t.numel()) * size_of(t.dtype());
  }
  return bytes > kMostConstants ? "its constants are too large" : "";
}

// What the plugin and the device say of themselves, as far as passes and the compiler ask.
std::string device_text(Place place) {
  if (place.is_cpu()) return {};
  const PdDevice& d = device::table(place);
  const PdDeviceFacts facts = device::facts(place);
  std::string kinds;  // places in programs are numbers
  for (const std::string& k : device::kinds()) kinds += k + " ";
  return fmt::format("{} by {}: {}, {} units; kinds {}", d.kind,
                     build_id_of_code(reinterpret_cast<const void*>(d.allocate)), facts.name ? facts.name : "",
                     facts.compute_units, kinds);
}

// Who this rank is, how what it is given lies, and which ranks the groups are that the program names by number.
std::string ranks_text(const pir::Program& program, const PipelineOptions& options) {
  distributed::Environment& env = distributed::Environment::current();
  std::string out;
  program.walk([&](pir::Operation& op) {
    const pir::Attribute ring = op.attr("ring_id");
    if (!ring) return;
    out += fmt::format("group {}:", ring.as_int());
    for (int r : env.ranks_of(static_cast<int>(ring.as_int()))) out += fmt::format(" {}", r);
    out += ";";
  });
  if (in_parts(program, options)) {
    for (const auto& [name, attr] : options.inputs) out += fmt::format("{} lies {};", name, spmd::encode(*attr));
    for (const auto& [name, t] : program.parameters())
      if (t.defined() && t.is_dist()) out += fmt::format("{} lies {};", name, spmd::encode(spmd::dist_attr(t)));
    out += options.stayed ? "results stay;" : "results go to all;";
  }
  return out.empty() ? out : fmt::format("rank {} of {};{}", env.rank(), env.world_size(), out);
}

// What the passes follow from beside the program, now; empty: not all of it can be said, or nothing can be kept.
std::string surroundings(Place place) {
  if (!passes_are_ours() || build_id().empty() || cinn::codegen_identity().empty() || !compile_cache().usable())
    return {};
  if (!place.is_cpu() && build_id_of_code(reinterpret_cast<const void*>(device::table(place).allocate)).empty())
    return {};
  return fmt::format("build {}, code generator {}, {} threads, {}, {}, flags {}", build_id(), cinn::codegen_identity(),
                     num_threads(), name_of(cpu_isa()), device_text(place), flags_text());
}

void say_once(const std::string& why) {
  if (why.empty() || flags::get_int("log_level") <= 0) return;
  static std::mutex mutex;
  static auto* said = new std::set<std::string>;
  std::lock_guard guard(mutex);
  if (said->insert(why).second) std::fprintf(stderr, "a finished program isn't kept on disk: %s\n", why.c_str());
}

}  // namespace

std::string why_not_kept(const pir::Program& program, const PipelineOptions& options) {
  if (options.keep_all_groups || options.decisions) return "it is made to be looked at";
  if (calls_back(program)) return "it calls functions of this process";
  if (!passes_are_ours()) return "there are passes of the user's, or passes are watched";
  if (std::string why = why_not_its_constants(program); !why.empty()) return why;
  if (surroundings(options.place).empty())
    return "there is no folder for it (FLAGS_compile_cache_dir), or a library was linked without a build id";
  return {};
}

ProgramKey::ProgramKey(const pir::Program& program, const PipelineOptions& options, std::string_view purpose)
    : place_(options.place), reads_weights_(options.inference) {
  const std::string why = why_not_kept(program, options);
  say_once(why);
  if (!why.empty()) return;
  const std::set<std::string> constants = constants_of(program);
  pir::ProgramWriter w;
  ByteWriter& out = w.out();
  out.text("finished program");
  out.text(surroundings(place_));
  out.text(ranks_text(program, options));
  out.number(int64_t{options.cinn});
  out.number(int64_t{options.keep_weights});
  out.number(int64_t{options.inference});
  out.text(purpose);
  w.program(program, [&](const std::string& name) { return constants.count(name) > 0; });
  symbols_ = w.symbols();
  bytes_ = w.out().bytes();
}

ProgramKey::ProgramKey(const ProgramKey& base, std::string_view purpose)
    : symbols_(base.symbols_), place_(base.place_) {
  const std::string around = base.usable() ? surroundings(place_) : std::string();
  if (!around.empty()) bytes_ = fmt::format("{} {} {}", digest_of(base.bytes_).str(), purpose, around);
}

NamedTensors given_to(const pir::Program& program, const PipelineOptions& options) {
  NamedTensors given = program.parameters();
  if (in_parts(program, options))
    for (auto& [name, tensor] : given) tensor = distributed::local_part(tensor);
  return given;
}

std::optional<std::string> digest_of_weights(const std::set<std::string>& names, const NamedTensors& given) {
  std::string out;
  for (const std::string& name : names) {
    auto it = given.find(name);
    if (it == given.end() || !it->second.defined()) continue;
    const Tensor& t = it->second;
    if (!t.is_dense() || !t.place().is_cpu()) return {};
    const Tensor dense = t.is_contiguous() ? t : pir::tensor_of(pir::dense_of(t));
    const std::string_view bytes(static_cast<const char*>(dense.data()),
                                 static_cast<size_t>(dense.numel()) * size_of(dense.dtype()));
    out += fmt::format("{} {} {}: {};", name, name_of(t.dtype()), to_string(view(t.shape())),
                       quick_digest_of(bytes).str());
  }
  return out;
}

}  // namespace paddle::compile
