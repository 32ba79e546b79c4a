// What the compiler did with a program's groups.
#include "cinn/group/fuse.h"
#include "cinn/jit/compiled.h"
#include "cinn/loop/traffic.h"
#include "compile/pipeline.h"
#include "compile/recompute_cut.h"
#include "compile/runner.h"
#include "compile/training.h"
#include "dispatch/trace.h"
#include "pir/printer.h"

namespace paddle::compile {
namespace {

// Elements of a value of constant size; -1 where it isn't a tensor of one.
int64_t elements_of(pir::Value v) {
  if (!v.type().has_shape()) return -1;
  int64_t n = 1;
  for (Dim d : v.shape()) {
    if (!d.is_const()) return -1;
    n *= d.value();
  }
  return n;
}

int64_t bytes_of(pir::Value v) {
  const int64_t n = elements_of(v);
  return n < 0 ? -1 : n * static_cast<int64_t>(size_of(v.dtype()));
}

bool add_to(int64_t& sum, int64_t n) {
  sum = n < 0 ? -1 : sum + n;
  return n >= 0;
}

// inputs: what the compiled function reads; operands that became constants in it cost nothing.
void measure(pir::Operation& group, std::span<const pir::Value> inputs, GroupReport& report) {
  report.bytes = report.flops = 0;
  for (pir::Value v : inputs)
    if (!add_to(report.bytes, bytes_of(v))) break;
  for (size_t i = 0; i < group.num_results() && report.bytes >= 0; ++i) add_to(report.bytes, bytes_of(group.result(i)));
  for (pir::Operation& op : group.region(0).front()) {
    if (op.num_results() == 0) continue;
    int64_t most = elements_of(op.result(0));
    for (pir::Value v : op.operands())
      if (v) most = std::max(most, elements_of(v));
    if (!add_to(report.flops, most)) break;
  }
}

std::string name_of(const pir::Operation& op) {
  std::string name(op.def().short_name());
  return op.loc() ? name + " (" + op.loc().str() + ")" : name;
}

FusionReport as_text(const cinn::FusionDecision& d) { return {d.joined, name_of(*d.first), name_of(*d.second), d.why}; }

const pir::Operation* group_of(const pir::Operation& op) {
  const pir::Operation* parent = op.parent_op();
  return parent && parent->is("cinn_op.group") ? parent : nullptr;
}

std::vector<FusionReport> decisions_about(const pir::Operation* group, std::span<const cinn::FusionDecision> all) {
  std::vector<FusionReport> out;
  for (const cinn::FusionDecision& d : all) {
    const pir::Operation *a = group_of(*d.first), *b = group_of(*d.second);
    // What was joined and then given up is told by a later decision.
    if (d.joined && a != b) continue;
    if (group ? a == group || b == group : !a && !b && !d.joined) out.push_back(as_text(d));
  }
  return out;
}

std::vector<GroupReport::Kernel> kernels_of(const cinn::Module& module) {
  std::vector<GroupReport::Kernel> out;
  for (const cinn::Kernel& k : module.kernels) {
    const auto traffic = cinn::traffic_of(module, k);
    out.push_back({k.name, k.why, traffic ? traffic->bytes : -1, traffic ? traffic->flops : -1});
  }
  return out;
}

GroupReport report_of(pir::Operation& group) {
  GroupReport report;
  report.operations = pir::print(group);
  const cinn::StepLog log = [&](std::string_view name, const std::string& text, double ms) {
    report.steps.push_back({std::string(name), text, ms});
  };
  cinn::Listening listening(log);
  try {
    cinn::CompiledRegion region = cinn::compile_region(group);
    measure(group, region.inputs, report);
    report.kernels = kernels_of(region.code->module());
    report.assembly = cinn::print_assembly(region.code->module(), false);
  } catch (const Error& e) {
    report.why_kernels = e.what();
    measure(group, group.operands(), report);
  }
  return report;
}

}  // namespace

std::vector<GroupReport> Runner::groups(std::vector<FusionReport>* apart) {
  pir::Program p = captured_.program.clone();
  dispatch::StackScope scope;
  std::vector<DimGuard> asked;
  DimGuardSink sink(&asked);
  PipelineOptions options = latest_;
  options.keep_all_groups = true;
  std::vector<cinn::FusionDecision> decisions;
  options.decisions = &decisions;
  optimise(p, options);
  std::vector<pir::Operation*> groups;
  p.walk([&](pir::Operation& op) {
    if (op.is("cinn_op.group")) groups.push_back(&op);
  });
  std::vector<GroupReport> reports;
  for (pir::Operation* g : groups) {
    reports.push_back(report_of(*g));
    reports.back().decisions = decisions_about(g, decisions);
  }
  if (apart) *apart = decisions_about(nullptr, decisions);
  return reports;
}

std::vector<executor::MemoryReport> Runner::memory() {
  std::lock_guard lock(mutex_);
  std::vector<executor::MemoryReport> out;
  for (auto& [key, made] : plain_)
    if (made.program) out.push_back(made.program->memory_report("program"));
  for (auto& [key, training] : training_) {
    if (!training) continue;
    out.push_back(training->forward().memory_report("forward"));
    out.push_back(training->backward().memory_report("backward"));
  }
  return out;
}

std::vector<CutRow> Runner::cut() {
  std::vector<CutRow> rows;
  std::lock_guard lock(mutex_);
  for (auto& [key, training] : training_) {
    if (!training) continue;
    dispatch::StackScope scope;
    std::vector<DimGuard> asked;
    DimGuardSink sink(&asked);
    PipelineOptions options = latest_;
    options.cut = &rows;
    TrainingProgram(captured_.program, key.first, captured_.num_outputs, captured_.output_stop_gradient, options);
    break;  // which gradients are wanted makes little difference
  }
  return rows;
}

}  // namespace paddle::compile
