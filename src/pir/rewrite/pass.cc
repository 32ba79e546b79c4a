#include "pir/rewrite/pass.h"

#include <algorithm>
#include <chrono>
#include <mutex>

#include "base/error.h"
#include "base/flags.h"
#include "base/profile.h"
#include "pir/printer.h"
#include "pir/rewrite/pattern.h"
#include "pir/verifier.h"

namespace paddle::pir {

Program& PassContext::program() const {
  if (!program_) throw InternalError("a pass that needs the whole program runs on a part of one");
  return *program_;
}

namespace {

class FunctionPass : public Pass {
 public:
  FunctionPass(std::string name, PassFn run) : Pass(std::move(name)), run_(std::move(run)) {}
  bool run(Operation& root, PassContext& context) override { return run_(root, context); }

 private:
  PassFn run_;
};

struct Registered {
  std::string doc;
  PassFactory factory;
};

bool changed = false;  // under the mutex

std::mutex& pass_mutex() {
  static auto* m = new std::mutex;
  return *m;
}
std::map<std::string, Registered>& pass_table() {
  static auto* table = new std::map<std::string, Registered>;
  return *table;
}

size_t count_ops(Operation& root) {
  size_t n = 0;
  root.walk([&](Operation&) { ++n; });
  return n - 1;
}

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

PassOptions parse_options(std::string_view text, std::string_view pipeline) {
  PassOptions options;
  while (!text.empty()) {
    size_t end = text.find(',');
    std::string_view item = trim(text.substr(0, end));
    size_t equals = item.find('=');
    check(equals != std::string_view::npos && equals > 0, ErrorKind::kValue,
          "pipeline \"{}\": expected name=value, got \"{}\"", pipeline, item);
    options[std::string(trim(item.substr(0, equals)))] = std::string(trim(item.substr(equals + 1)));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return options;
}

// Letters in common at the front: enough to suggest a name.
std::string nearest(const std::string& name, const std::map<std::string, Registered>& table) {
  std::string best;
  size_t most = 2;
  for (auto& [known, entry] : table) {
    size_t n = 0;
    while (n < known.size() && n < name.size() && known[n] == name[n]) ++n;
    if (n > most) {
      most = n;
      best = known;
    }
  }
  return best;
}

}  // namespace

std::unique_ptr<Pass> make_pass(std::string name, PassFn run) {
  return std::make_unique<FunctionPass>(std::move(name), std::move(run));
}

std::unique_ptr<Pass> make_pattern_pass(std::string name, std::shared_ptr<const PatternSet> patterns) {
  return make_pass(std::move(name), [patterns](Operation& root, PassContext& context) {
    GreedyResult r = apply_greedily(root, *patterns);
    for (auto& [pattern, n] : r.by_pattern) context.count(pattern, static_cast<int64_t>(n));
    if (!r.converged) context.count("(stopped before the end)");
    return static_cast<bool>(r);
  });
}

void register_pass(std::string name, std::string doc, PassFactory factory) {
  std::lock_guard lock(pass_mutex());
  const bool fresh =
      pass_table().insert_or_assign(std::move(name), Registered{std::move(doc), std::move(factory)}).second;
  changed |= !fresh;
}

void unregister_pass(const std::string& name) {
  std::lock_guard lock(pass_mutex());
  changed |= pass_table().erase(name) > 0;
}

bool passes_were_changed() {
  std::lock_guard lock(pass_mutex());
  return changed;
}

std::vector<PassInfo> registered_passes() {
  std::lock_guard lock(pass_mutex());
  std::vector<PassInfo> r;
  for (auto& [name, entry] : pass_table()) r.push_back({name, entry.doc});
  return r;
}

std::unique_ptr<Pass> create_pass(const std::string& name, const PassOptions& options) {
  PassFactory factory;
  std::string near;
  {
    std::lock_guard lock(pass_mutex());
    auto it = pass_table().find(name);
    if (it != pass_table().end())
      factory = it->second.factory;
    else
      near = nearest(name, pass_table());
  }
  check(static_cast<bool>(factory), ErrorKind::kValue, "there is no pass named \"{}\"{}", name,
        near.empty() ? "" : "; the nearest name is \"" + near + "\"");
  return factory(options);
}

PassManager::Options PassManager::Options::from_flags() {
  Options o;
  o.verify = flags::get_bool("pir_verify_passes");
  if (flags::get_bool("pir_print_passes")) o.print = [](std::string_view text) { fmt::print(stderr, "{}", text); };
  return o;
}

PassManager& PassManager::add(std::unique_ptr<Pass> pass) {
  entries_.push_back({std::move(pass), {}, nullptr});
  return *this;
}

PassManager& PassManager::add_pipeline(std::string_view text) {
  std::string_view rest = trim(text);
  while (!rest.empty()) {
    size_t end = rest.find_first_of(",{");
    std::string name(trim(rest.substr(0, end)));
    check(!name.empty(), ErrorKind::kValue, "pipeline \"{}\": expected the name of a pass", text);
    PassOptions options;
    if (end != std::string_view::npos && rest[end] == '{') {
      size_t close = rest.find('}', end);
      check(close != std::string_view::npos, ErrorKind::kValue, "pipeline \"{}\": expected \"}}\"", text);
      options = parse_options(rest.substr(end + 1, close - end - 1), text);
      rest = trim(rest.substr(close + 1));
      check(rest.empty() || rest[0] == ',', ErrorKind::kValue, "pipeline \"{}\": expected \",\" after \"}}\"", text);
      end = rest.empty() ? std::string_view::npos : 0;
    }
    add(name, options);
    rest = end == std::string_view::npos ? std::string_view() : trim(rest.substr(end + 1));
  }
  return *this;
}

PassManager& PassManager::nest(std::string op_name) {
  auto nested = std::make_unique<PassManager>(options_);
  PassManager& r = *nested;
  entries_.push_back({nullptr, std::move(op_name), std::move(nested)});
  return r;
}

bool PassManager::run(Program& program) { return run(program.module(), &program); }

bool PassManager::run(Operation& root, Program* program) {
  records_.clear();
  if (options_.verify) verify(root, {}, "before the first pass");
  bool changed = false;
  for (Entry& e : entries_) changed |= e.pass ? run_pass(*e.pass, root, program) : run_nested(e, root, program);
  return changed;
}

bool PassManager::run_nested(Entry& entry, Operation& root, Program* program) {
  std::vector<Operation*> targets;
  root.walk_post([&](Operation& op) {
    if (op.is(entry.nested_on)) targets.push_back(&op);
  });
  bool changed = false;
  entry.nested->instrumentation_ = instrumentation_;
  for (Operation* op : targets) {
    changed |= entry.nested->run(*op, program);
    for (PassRecord& r : entry.nested->records_) {
      r.name = entry.nested_on + "/" + r.name;
      records_.push_back(std::move(r));
    }
  }
  return changed;
}

bool PassManager::run_pass(Pass& pass, Operation& root, Program* program) {
  PassRecord record;
  record.name = pass.name();
  record.ops_before = count_ops(root);
  std::string before;
  if (options_.print && options_.print_diff) before = pir::print(root);
  for (auto& i : instrumentation_) i->before(pass, root);
  PassContext context(program);
  auto start = std::chrono::steady_clock::now();
  const std::string_view name = record.name;
  profile::Span span(profile::Kind::kCompile, name);
  try {
    record.changed = pass.run(root, context);
  } catch (const std::exception& e) {
    for (auto& i : instrumentation_) i->failed(pass, root, e.what());
    throw;
  }
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  record.ops_after = count_ops(root);
  record.statistics = context.statistics();
  for (auto& i : instrumentation_) i->after(pass, root, record);
  if (record.changed && options_.print) {
    std::string after = pir::print(root);
    options_.print(fmt::format("// after {}\n{}", pass.name(), options_.print_diff ? diff(before, after) : after));
  }
  if (record.changed && options_.verify) verify(root, {}, "after pass " + pass.name());
  records_.push_back(std::move(record));
  return records_.back().changed;
}

std::string PassManager::report() const {
  double total = 0;
  for (const PassRecord& r : records_) total += r.seconds;
  std::string s = fmt::format("{:<40} {:>10} {:>6}  {:>15}\n", "pass", "ms", "share", "operations");
  for (const PassRecord& r : records_) {
    s += fmt::format("{:<40} {:>10.3f} {:>5.0f}%  {:>6} -> {:>6}", r.name, r.seconds * 1e3,
                     total > 0 ? 100 * r.seconds / total : 0, r.ops_before, r.ops_after);
    if (!r.changed) s += "  unchanged";
    for (auto& [what, n] : r.statistics) s += fmt::format("  {}: {}", what, n);
    s += "\n";
  }
  return s + fmt::format("{:<40} {:>10.3f}\n", "total", total * 1e3);
}

}  // namespace paddle::pir
