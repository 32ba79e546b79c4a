#include "compile/pipeline.h"

#include <chrono>
#include <cstdio>

#include "base/flags.h"
#include "cinn/group/fuse.h"
#include "cinn/jit/compiled.h"
#include "cinn/jit/library.h"
#include "compile/decompose.h"
#include "compile/program_cache.h"
#include "device/default_place.h"
#include "distributed/partition/partition.h"
#include "passes/passes.h"
#include "pir/custom_gradient.h"
#include "pir/effects.h"
#include "pir/rewrite/pass.h"
#include "pir/rewrite/stages.h"

namespace paddle::compile {
namespace {

// A copy is an alias in SSA; that gradients stop here was for differentiate.
size_t drop_copies(pir::Operation& root) {
  size_t n = 0;
  root.walk_post([&](pir::Operation& op) {
    if (!op.block() || !pir::is_identity(op) || op.has(pir::kBarrier)) return;
    op.result().replace_all_uses_with(op.operand(0));
    op.erase();
    ++n;
  });
  return n;
}

// Sizes that only a call tells are no constants: evaluating them would pin them to the sizes of this one.
std::vector<OutSlot> evaluate_static(const pir::Operation& op, std::span<const OutSlot> operands) {
  for (const pir::NamedAttr& a : op.attrs()) {
    bool symbolic = a.value.kind() == pir::AttrKind::kDim && a.value.as_dim().is_symbolic();
    if (a.value.kind() == pir::AttrKind::kIntArray) symbolic = !is_static(view(a.value.as_ints()));
    check(!symbolic, ErrorKind::kValue, "a symbolic size");
  }
  for (pir::Value v : op.results_vector())
    check(!v.type().has_shape() || is_static(view(v.shape())), ErrorKind::kValue, "a symbolic size");
  return passes::evaluate_eagerly(op, operands);
}

bool wants_decomposition() { return flags::get_bool("prim_all") || flags::get_bool("prim_forward"); }

// Without a code generator nothing is written out for its sake.
bool can_compile(Place place) {
  if (!place.is_cpu()) return cinn::can_compile_for(place);
  static const bool there = [] {
    try {
      cinn::codegen();
      return true;
    } catch (const Error& e) {
      std::fprintf(stderr, "captured programs run by kernels: %s\n", e.what());
      return false;
    }
  }();
  return there;
}

// A group that can't be compiled goes back to its operations, which run by kernels. The code of the others is handed
// on.
size_t keep_compilable(pir::Operation& root, Place place, Finished* finished) {
  size_t failed = 0;
  std::vector<pir::Operation*> groups;
  root.walk([&](pir::Operation& op) {
    if (op.is("cinn_op.group")) groups.push_back(&op);
  });
  const bool say = flags::get_bool("cinn_print") || flags::get_int("log_level") > 0;
  const auto budget = std::chrono::milliseconds(flags::get_int("cinn_total_budget_ms"));
  const auto began = std::chrono::steady_clock::now();
  const auto batch = place.is_cpu() ? nullptr : std::make_shared<cinn::DeviceBatch>(place);
  for (pir::Operation* g : groups) {
    try {
      if (std::chrono::steady_clock::now() - began > budget)
        throw cinn::OverBudget(ErrorKind::kNotImplemented,
                               "the program's groups took longer to compile than FLAGS_cinn_total_budget_ms");
      cinn::CompiledRegion made = cinn::compile_region(*g, batch);
      if (finished) finished->code.of.emplace(g, std::move(made));
    } catch (const Error& e) {
      const bool chance = dynamic_cast<const cinn::OverBudget*>(&e) || e.kind() != ErrorKind::kNotImplemented;
      if (finished) finished->by_chance |= chance;
      if (say) std::fprintf(stderr, "a group runs by kernels: %s\n", e.what());
      cinn::dissolve_group(*g);
      ++failed;
    }
  }
  return failed;
}

bool wants_groups(const PipelineOptions& options) {
  // Each operator's output is looked at where numbers are checked: groups have none but their last.
  return options.cinn && flags::get_bool("use_cinn") && !flags::get_bool("check_nan_inf");
}

// A program that writes no weights is taken apart and put together around the kernels that hold them.
bool holds_weights(const PipelineOptions& options) {
  return (options.inference || options.keep_weights) && options.place.is_cpu() && !flags::get_bool("check_nan_inf");
}

void add_simplifications(pir::PassManager& steps, const PipelineOptions& options, bool fuse, Finished* finished) {
  steps.add_pipeline(pir::stage_pipeline("captured"));
  steps.add("drop_copies", [](pir::Operation& root, pir::PassContext&) { return drop_copies(root) > 0; });
  steps.add("canonicalise");
  steps.add("dead_code");
  steps.add("common_subexpression");
  if (options.place.is_cpu()) {
    steps.add("decompose_contractions", [](pir::Operation&, pir::PassContext& context) {
      return decompose(context.program(), DecomposeWhat::kContractions) > 0;
    });
    steps.add("canonicalise");
    steps.add("fuse_attention");
  }
  if (holds_weights(options) && fuse) {
    steps.add("decompose_evaluating", [](pir::Operation&, pir::PassContext& context) {
      return decompose(context.program(), DecomposeWhat::kEvaluating) > 0;
    });
    steps.add("fold_scales");
  }
  if (wants_decomposition() || fuse)
    steps.add("decompose", [](pir::Operation&, pir::PassContext& context) {
      return decompose(context.program(), wants_decomposition() ? DecomposeWhat::kAll : DecomposeWhat::kToFuse) > 0;
    });
  steps.add("constant_folding", [&options, finished](pir::Operation&, pir::PassContext& context) {
    passes::FoldOptions fold;
    fold.parameters = options.inference;
    if (finished) fold.read = &finished->weights_read;
    return passes::fold_constants(context.program(), evaluate_static, fold) > 0;
  });
  steps.add("canonicalise");
  steps.add("join_products");
  steps.add("common_subexpression");
  steps.add("dead_code");
}

void add_fusion(pir::PassManager& steps, const PipelineOptions& options, Finished* finished) {
  steps.add("fuse", [&options](pir::Operation& root, pir::PassContext& context) {
    size_t n = cinn::fuse_groups(root, {.all = !options.place.is_cpu(), .decisions = options.decisions});
    context.count("groups", static_cast<int64_t>(n));
    return n > 0;
  });
  if (options.keep_all_groups) return;
  steps.add("compile_groups", [&options, finished](pir::Operation& root, pir::PassContext& context) {
    size_t failed = keep_compilable(root, options.place, finished);
    context.count("by kernels", static_cast<int64_t>(failed));
    return failed > 0;
  });
}

// Rules speak of the operators that the user called: a softmax over a sharded axis gathers, its parts would reduce.
void partition_first(pir::Program& program, const PipelineOptions& options, Finished* finished) {
  if (options.inputs.empty() && !distributed::is_distributed(program)) return;
  distributed::PartitionOptions partition;
  partition.inputs = options.inputs;
  if (options.stayed) partition.stayed = finished ? &finished->stayed : options.stayed;
  distributed::MeshGroupsAsked asked;
  program = distributed::partition(program, partition);
  if (finished) finished->groups = KeptGroups(asked.list);
}

void run_steps(pir::Program& program, const PipelineOptions& options, Finished* finished) {
  device::PlaceScope host(Place::cpu());  // what passes evaluate, they read
  pir::drop_custom_gradients(program.module());
  partition_first(program, options, finished);
  const bool fuse = fuses(options);
  if (finished) finished->by_chance |= fuse != wants_groups(options);
  pir::PassManager steps(pir::PassManager::Options::from_flags());
  if (!options.simplified) add_simplifications(steps, options, fuse, finished);
  steps.add_pipeline(pir::stage_pipeline("optimised"));
  if (holds_weights(options)) {
    steps.add("fuse_epilogue");
    steps.add("channels_last");
    steps.add("canonicalise");
    steps.add("common_subexpression");
    steps.add("hold_weights");
  }
  if (fuse) add_fusion(steps, options, finished);
  steps.run(program);
}

}  // namespace

bool fuses(const PipelineOptions& options) { return wants_groups(options) && can_compile(options.place); }

void simplify(pir::Program& program, const PipelineOptions& options) {
  device::PlaceScope host(Place::cpu());
  pir::PassManager steps(pir::PassManager::Options::from_flags());
  add_simplifications(steps, options, fuses(options), nullptr);
  steps.run(program);
}

void optimise(pir::Program& program, const PipelineOptions& options) { run_steps(program, options, nullptr); }

Finished finish(pir::Program program, const PipelineOptions& options) {
  Finished finished;
  run_steps(program, options, &finished);
  finished.program = std::move(program);
  return finished;
}

std::shared_ptr<executor::Executable> executable(Finished finished, const PipelineOptions& options) {
  return std::make_shared<executor::Executable>(std::move(finished.program), options.place,
                                                options.inference || options.keep_weights, &finished.code);
}

std::shared_ptr<executor::Executable> prepare(const pir::Program& program, const PipelineOptions& options) {
  const ProgramKey key(program, options);
  const NamedTensors given = given_to(program, options);
  std::optional<Finished> finished = find_finished(key, given);
  if (!finished) {
    std::vector<DimGuard> asked;
    {
      DimGuardSink sink(&asked);
      finished = finish(program.clone(), options);
    }
    keep_finished(key, given, *finished, asked);
    ask_again(asked);
  }
  if (options.stayed) options.stayed->merge(finished->stayed);
  return executable(std::move(*finished), options);
}

}  // namespace paddle::compile
