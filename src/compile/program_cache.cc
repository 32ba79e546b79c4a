#include "compile/program_cache.h"

#include <atomic>

#include "base/disk_cache.h"
#include "cinn/loop/bytes.h"
#include "pir/serialize/bytes.h"
#include "spmd/attr_text.h"

namespace paddle::compile {

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

void write(pir::ProgramWriter& w, const distributed::Layouts& layouts) {
  w.out().size(layouts.size());
  for (const auto& [name, attr] : layouts) {
    w.out().text(name);
    w.out().text(spmd::encode(*attr));
  }
}

distributed::Layouts read_layouts(pir::ProgramReader& r) {
  distributed::Layouts layouts;
  for (size_t n = r.in().size(); n > 0; --n) {
    std::string name(r.in().text());
    layouts.emplace(std::move(name), std::make_shared<spmd::DistAttr>(spmd::decode(r.in().text())));
  }
  return layouts;
}

void write(pir::ProgramWriter& w, const Finished& finished, const NamedTensors& given) {
  finished.groups.write(w);
  write(w, finished.stayed);
  write(w, finished.program, given);
  ByteWriter& out = w.out();
  finished.program.walk([&](pir::Operation& op) {
    if (!op.is("cinn_op.group")) return;
    const cinn::CompiledRegion& region = finished.code.of.at(&op);
    out.size(region.inputs.size());
    for (pir::Value v : region.inputs) w.value(v);
    out.size(region.symbols.size());
    for (Dim d : region.symbols) w.dim(d);
    if (region.device) {
      out.text(cinn::to_bytes(region.device->module()));
      return;
    }
    const cinn::GroupForm& form = region.code->form();
    out.number(int64_t{form.streaming});
    out.number(form.streaming_bytes);
    out.number(int64_t{form.fast_math});
    out.text(cinn::to_bytes(region.code->module()));
  });
}

Finished read_finished(pir::ProgramReader& r, const NamedTensors& given, Place place) {
  Finished finished;
  finished.groups = KeptGroups(r);
  finished.stayed = read_layouts(r);
  finished.program = read_program(r, given);
  finished.groups.renumber(finished.program);
  const auto batch = place.is_cpu() ? nullptr : std::make_shared<cinn::DeviceBatch>(place);
  ByteReader& in = r.in();
  finished.program.walk([&](pir::Operation& op) {
    if (!op.is("cinn_op.group")) return;
    cinn::CompiledRegion region;
    for (size_t n = in.size(); n > 0; --n) region.inputs.push_back(r.value());
    for (size_t n = in.size(); n > 0; --n) region.symbols.push_back(r.dim());
    if (batch) {
      region.device = std::make_shared<const cinn::DeviceGroup>(cinn::module_of(in.text()), batch);
      finished.code.of.emplace(&op, std::move(region));
      return;
    }
    cinn::GroupForm form;
    form.streaming = in.number(0, 1) != 0;
    form.streaming_bytes = in.number();
    form.fast_math = in.number(0, 1) != 0;
    region.code = cinn::compile_lowered(cinn::module_of(in.text()), form);
    finished.code.of.emplace(&op, std::move(region));
  });
  return finished;
}

namespace {

// Where a program lies whose passes read these weights.
std::optional<ProgramKey> key_with(const ProgramKey& key, const std::set<std::string>& weights,
                                   const NamedTensors& given) {
  const std::optional<std::string> digest = digest_of_weights(weights, given);
  if (!digest) return {};
  return ProgramKey(key, "with weights " + *digest);
}

std::optional<ProgramKey> key_with_kept_weights(const ProgramKey& key, const NamedTensors& given) {
  const std::optional<std::string> bytes = compile_cache().get(ProgramKey(key, "weights read").bytes());
  if (!bytes) return {};
  std::set<std::string> names;
  ByteReader in(*bytes);
  for (size_t n = in.size(); n > 0; --n) names.emplace(in.text());
  return key_with(key, names, given);
}

std::optional<Finished> read_entry(const ProgramKey& key, const NamedTensors& given) {
  const std::optional<std::string> bytes = compile_cache().get(key.bytes());
  if (!bytes) return {};
  pir::ProgramReader in(*bytes, key.symbols());
  const std::vector<DimGuard> guards = read_guards(in);
  Finished finished = read_finished(in, given, key.place());
  if (!in.in().done() || !ask_again(guards)) return {};
  note_found();
  return finished;
}

}  // namespace

std::optional<Finished> find_finished(const ProgramKey& key, const NamedTensors& given) {
  if (!key.usable()) return {};
  try {
    if (!key.reads_weights()) return read_entry(key, given);
    const std::optional<ProgramKey> whole = key_with_kept_weights(key, given);
    if (whole && whole->usable()) return read_entry(*whole, given);
  } catch (const Error&) {  // made anew
  }
  return {};
}

void keep_finished(const ProgramKey& key, const NamedTensors& given, const Finished& finished,
                   std::span<const DimGuard> guards) {
  if (!key.usable() || finished.by_chance) return;
  std::optional<ProgramKey> whole = key;
  if (key.reads_weights()) {
    whole = key_with(key, finished.weights_read, given);
    if (!whole || !whole->usable()) return;
    ByteWriter names;
    names.size(finished.weights_read.size());
    for (const std::string& name : finished.weights_read) names.text(name);
    compile_cache().put(ProgramKey(key, "weights read").bytes(), names.bytes());
  }
  pir::ProgramWriter out(key.symbols());
  write(out, guards);
  write(out, finished, given);
  put_entry(*whole, out.out().bytes());
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
