#include "pir/verifier.h"

#include "base/error.h"
#include "pir/dominance.h"

namespace paddle::pir {
namespace {

std::string kinds_text(const std::vector<AttrKind>& kinds) {
  std::string s;
  for (AttrKind k : kinds) s += (s.empty() ? "" : " or ") + std::string(name_of(k));
  return s;
}

class Verifier {
 public:
  Verifier(const VerifyOptions& options, std::vector<std::string>& problems) : options_(options), problems_(problems) {}

  void operation(const Operation& op) {
    size_t before = problems_.size();
    operands(op);
    attributes(op);
    results(op);
    regions(op);
    // The operation's own check may rely on the ones above.
    if (problems_.size() == before) own(op);
  }

 private:
  template <class... Args>
  void problem(const Operation& op, fmt::format_string<Args...> format, Args&&... args) {
    problems_.push_back(op.describe() + " " + fmt::format(format, std::forward<Args>(args)...));
  }

  void operands(const Operation& op) {
    const OpDef& def = op.def();
    size_t fixed = def.operands.size() - (def.variadic_operands() ? 1 : 0);
    if (op.num_operands() < fixed || (!def.variadic_operands() && op.num_operands() > fixed)) {
      problem(op, "expected {}{} operands, got {}", def.variadic_operands() ? "at least " : "", fixed,
              op.num_operands());
      return;
    }
    for (size_t i = 0; i < op.num_operands(); ++i) {
      const OperandDef& o = def.operands[std::min(i, def.operands.size() - 1)];
      Value v = op.operand(i);
      if (!v) {
        if (!o.optional) problem(op, "operand {} \"{}\" is missing", i, o.name);
        continue;
      }
      operand(op, i, o, v);
    }
  }

  void operand(const Operation& op, size_t i, const OperandDef& o, Value v) {
    if (o.list && !v.type().is_vector())
      problem(op, "operand {} \"{}\": expected a list, got {}", i, o.name, v.type().str());
    bool mixed = op.info() && o.arg >= 0 && op.info()->args[static_cast<size_t>(o.arg)].kind == ArgKind::kInts;
    if (!o.list && !o.variadic && !mixed && op.info() && v.type().is_vector())
      problem(op, "operand {} \"{}\": expected one tensor, got {}", i, o.name, v.type().str());
    if (!v.owner_block()) {
      problem(op, "operand {} \"{}\": its operation {} is in no block", i, o.name, v.defining_op()->describe());
    } else if (op.block() && !dominates(v, op)) {
      std::string source = v.is_argument() ? "a block's argument" : v.defining_op()->describe();
      problem(op, "operand {} \"{}\": {} is not defined before its use", i, o.name, source);
    }
  }

  void attributes(const Operation& op) {
    for (const AttrDef& a : op.def().attrs) {
      const Attribute* found = op.attrs().find(a.name);
      if (!found || !*found) {
        if (a.required) problem(op, "attribute \"{}\" is missing", a.name);
        continue;
      }
      bool ok = a.kinds.empty();
      for (AttrKind k : a.kinds) ok = ok || found->kind() == k;
      if (!ok)
        problem(op, "attribute \"{}\": expected {}, got {} ({})", a.name, kinds_text(a.kinds), name_of(found->kind()),
                found->str());
    }
  }

  void results(const Operation& op) {
    const OpDef& def = op.def();
    size_t fixed = def.results.size() - (def.variadic_results() ? 1 : 0);
    // Files may hold more results (Paddle's intermediate ones) than our record has: harmless while nobody uses them.
    size_t used = op.num_results();
    while (used > fixed && op.info() && op.result(used - 1).use_empty()) --used;
    if (op.num_results() < fixed || (!def.variadic_results() && used > fixed)) {
      problem(op, "expected {}{} results, got {}", def.variadic_results() ? "at least " : "", fixed, op.num_results());
      return;
    }
    for (size_t i = 0; i < op.num_results() && i < fixed; ++i) {
      Type t = op.result(i).type();
      const ResultDef& r = def.results[i];
      if (!t && !r.optional && !op.result(i).use_empty())
        problem(op, "result {} \"{}\" has no type but is used", i, r.name);
      if (r.list && t && !t.is_vector()) problem(op, "result {} \"{}\": expected a list, got {}", i, r.name, t.str());
    }
  }

  void regions(const Operation& op) {
    const OpDef& def = op.def();
    auto n = static_cast<int>(op.num_regions());
    if (n < def.min_regions || n > def.max_regions)
      problem(op, "expected {} to {} regions, got {}", def.min_regions, def.max_regions, n);
    for (size_t r = 0; r < op.num_regions(); ++r)
      for (size_t b = 0; b < op.region(r).size(); ++b) block(op.region(r).block(b));
    if (def.has(kIsolated))
      for (Value v : captured_values(op))
        problem(op, "its regions use a value from outside: {}",
                v.is_argument() ? "a block's argument" : v.defining_op()->describe());
  }

  void block(const Block& block) {
    for (Operation& op : block) {
      if (op.has(kTerminator) && op.next()) problem(op, "expected to be the last operation of its block");
      operation(op);
    }
  }

  void own(const Operation& op) {
    try {
      if (op.def().verify) op.def().verify(op);
      if (options_.infer && op.def().infer) infer(op);
    } catch (const Error& e) {
      problems_.push_back(e.what());
    }
  }

  void infer(const Operation& op) {
    std::vector<DimGuard> guards;  // what the rule asks about sizes was answered when the program was captured
    DimGuardSink sink(&guards);
    auto types = op.def().infer(op.def(), op.operands(), op.attrs());
    for (size_t i = 0; i < types.size() && i < op.num_results(); ++i) {
      Type want = types[i], got = op.result(i).type().global();
      if (!want.is_tensor() || !got.is_tensor()) continue;
      bool same = want.dtype() == got.dtype() && want.rank() == got.rank();
      for (size_t d = 0; same && d < want.shape().size(); ++d) {
        Dim x = want.shape()[d], y = got.shape()[d];
        same = x == y || x.is_symbolic() || y.is_symbolic() || x.value() < 0 || y.value() < 0;
      }
      if (!same) problem(op, "result {}: expected {}, got {}", i, want.str(), got.str());
    }
  }

  const VerifyOptions& options_;
  std::vector<std::string>& problems_;
};

}  // namespace

std::vector<std::string> problems_of(const Operation& op, const VerifyOptions& options) {
  std::vector<std::string> problems;
  Verifier(options, problems).operation(op);
  return problems;
}

void verify(const Operation& op, const VerifyOptions& options, std::string_view when) {
  auto problems = problems_of(op, options);
  if (problems.empty()) return;
  std::string more = problems.size() > 1 ? fmt::format(" (and {} more)", problems.size() - 1) : "";
  fail(ErrorKind::kValue, "{}{}{}{}", when, when.empty() ? "" : ": ", problems[0], more);
}

void verify(const Program& program, const VerifyOptions& options, std::string_view when) {
  verify(program.module(), options, when);
}

}  // namespace paddle::pir
