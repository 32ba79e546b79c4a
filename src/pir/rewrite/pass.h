// Passes and pipelines. A pass changes a program; a pipeline runs passes in order, times each, and on demand verifies
// and prints after those that changed something. Passes are registered by name, so that one written in Python or in a
// plugin joins a pipeline like any other.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pir/program.h"

namespace paddle::pir {

// Options of one pass in a pipeline: "constant_folding{max_bytes=4096}".
using PassOptions = std::map<std::string, std::string>;

class PassContext {
 public:
  explicit PassContext(Program* program) : program_(program) {}
  // The whole program; InternalError where the pipeline runs on an operation that is in none.
  Program& program() const;
  bool has_program() const { return program_ != nullptr; }
  void count(const std::string& what, int64_t n = 1) { statistics_[what] += n; }
  const std::map<std::string, int64_t>& statistics() const { return statistics_; }

 private:
  Program* program_;
  std::map<std::string, int64_t> statistics_;
};

class Pass {
 public:
  explicit Pass(std::string name) : name_(std::move(name)) {}
  virtual ~Pass() = default;
  const std::string& name() const { return name_; }
  // `root` owns regions: the program's module, or an operation that the pipeline was nested on. True if it changed
  // anything.
  virtual bool run(Operation& root, PassContext& context) = 0;

 private:
  std::string name_;
};

using PassFn = std::function<bool(Operation& root, PassContext&)>;
std::unique_ptr<Pass> make_pass(std::string name, PassFn run);
// Applies patterns greedily (pattern.h).
class PatternSet;
std::unique_ptr<Pass> make_pattern_pass(std::string name, std::shared_ptr<const PatternSet> patterns);

// ---- by name -----------------------------------------------------------------------------------------------------

using PassFactory = std::function<std::unique_ptr<Pass>(const PassOptions&)>;
// A later registration of a name replaces the earlier one (a plugin may bring a better pass).
void register_pass(std::string name, std::string doc, PassFactory factory);
void unregister_pass(const std::string& name);
// Did anybody ever put another pass in the place of one, or take one away? Then what a pipeline does isn't told by the
// build alone.
bool passes_were_changed();
struct PassInfo {
  std::string name, doc;
};
std::vector<PassInfo> registered_passes();
// ValueError naming the nearest registered pass.
std::unique_ptr<Pass> create_pass(const std::string& name, const PassOptions& options = {});

// ---- pipelines ---------------------------------------------------------------------------------------------------

struct PassRecord {
  std::string name;
  double seconds = 0;
  bool changed = false;
  size_t ops_before = 0, ops_after = 0;
  std::map<std::string, int64_t> statistics;
};

class PassInstrumentation {
 public:
  virtual ~PassInstrumentation() = default;
  virtual void before(const Pass&, Operation&) {}
  virtual void after(const Pass&, Operation&, const PassRecord&) {}
  virtual void failed(const Pass&, Operation&, std::string_view message) {}
};

class PassManager {
 public:
  struct Options {
    bool verify = false;  // before the first and after each pass that says it changed something
    // Text of the change (a diff) or of the whole program after each pass that changed something; empty: no printing.
    std::function<void(std::string_view)> print;
    bool print_diff = true;
    // As FLAGS_pir_verify_passes and FLAGS_pir_print_passes say.
    static Options from_flags();
  };
  PassManager() = default;
  explicit PassManager(Options options) : options_(std::move(options)) {}

  PassManager& add(std::unique_ptr<Pass> pass);
  PassManager& add(const std::string& name, const PassOptions& options = {}) { return add(create_pass(name, options)); }
  PassManager& add(std::string name, PassFn run) { return add(make_pass(std::move(name), std::move(run))); }
  // "canonicalise,dead_code,constant_folding{max_bytes=4096}"
  PassManager& add_pipeline(std::string_view text);
  // A pipeline that runs on every operation of that name, innermost first: nest("cinn_op.group").
  PassManager& nest(std::string op_name);
  void instrument(std::shared_ptr<PassInstrumentation> i) { instrumentation_.push_back(std::move(i)); }

  bool run(Program& program);
  bool run(Operation& root, Program* program = nullptr);
  const std::vector<PassRecord>& records() const { return records_; }
  std::string report() const;  // a table: pass, time, changed, operations before and after, statistics
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::unique_ptr<Pass> pass;
    std::string nested_on;
    std::unique_ptr<PassManager> nested;
  };
  bool run_pass(Pass& pass, Operation& root, Program* program);
  bool run_nested(Entry& entry, Operation& root, Program* program);
  Options options_;
  std::vector<Entry> entries_;
  std::vector<std::shared_ptr<PassInstrumentation>> instrumentation_;
  std::vector<PassRecord> records_;
};

}  // namespace paddle::pir
