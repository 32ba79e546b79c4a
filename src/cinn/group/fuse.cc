#include "cinn/group/fuse.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "cinn/group/fuse_reasons.h"
#include "cinn/group/make_groups.h"
#include "cinn/group/translator.h"
#include "cinn/group/units.h"
#include "pir/effects.h"
#include "pir/rewrite/pass.h"

namespace paddle::cinn {
namespace {

using pir::Block;
using pir::Operation;
using pir::Value;

bool is_list(Value v) { return v && v.type().is_vector(); }

// Decides which of a block's operations stand together.
class Fuser {
 public:
  Fuser(Block& block, const FuseOptions& options) : block_(block), options_(options), units_(block) {
    for (size_t i = 0; i < units_.size(); ++i) {
      const Operation& op = units_.op(static_cast<int>(i));
      inside_.push_back(belongs_inside(op));
      alone_.push_back(inside_.back() && !translatable(op));
    }
    bind_lists();
  }

  size_t run() {
    for (size_t i = 0; i < units_.size(); ++i) join_producers(static_cast<int>(i));
    join_siblings();
    drop_small();
    std::vector<bool> grouped(units_.count());
    for (size_t u = 0; u < units_.count(); ++u) grouped[u] = makes_group(units_.members(static_cast<int>(u)));
    return make_groups(block_, units_, grouped);
  }

 private:
  bool inside(int i) const { return inside_[static_cast<size_t>(i)]; }
  bool alone(int i) const { return alone_[static_cast<size_t>(i)]; }

  bool belongs_inside(const Operation& op) const {
    // A group's sizes must be known before it runs.
    if (!pir::sizes_told_by(op).empty()) return false;
    // Kernels check indices and say which is wrong; a compiled group reads a row that exists and says nothing.
    if (!options_.all) return translatable(op) && !picks_rows(op);
    return translatable(op, {.loops = true}) && !op.has(kInplaceOnly);
  }

  // why: called only if somebody wants to know.
  template <class Why>
  void decided(int first, int second, bool joined, Why&& why) {
    if (options_.decisions) options_.decisions->push_back({&units_.op(first), &units_.op(second), joined, why()});
  }

  // -- lists of tensors

  // A list exists only inside a group: its maker and its readers stand together, or none is in a group.
  void bind_lists() {
    for (size_t i = 0; i < units_.size(); ++i) {
      const int maker = static_cast<int>(i);
      for (size_t r = 0; r < units_.op(maker).num_results(); ++r)
        if (Value v = units_.op(maker).result(r); is_list(v)) bind_list(maker, v);
    }
    // An operation that left may have left others' lists behind.
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t u = 0; u < units_.count(); ++u) changed |= leave_together(units_.members(static_cast<int>(u)));
    }
  }

  void bind_list(int maker, Value list) {
    bool all = inside(maker);
    for (Operation* user : list.users()) {
      const int at = units_.position(user);
      all &= at >= 0 && inside(at);
    }
    for (Operation* user : list.users()) {
      const int at = units_.position(user);
      if (at < 0) continue;
      if (all) {
        units_.unite(units_.unit_of(maker), units_.unit_of(at));
        decided(maker, at, true, [&] { return why_joined(units_.op(maker), *user); });
      } else {
        inside_[static_cast<size_t>(at)] = false;
      }
    }
    if (!all) inside_[static_cast<size_t>(maker)] = false;
  }

  bool leave_together(const std::vector<int>& members) {
    if (std::all_of(members.begin(), members.end(), [&](int m) { return inside(m); })) return false;
    bool changed = false;
    for (int m : members)
      if (inside(m)) inside_[static_cast<size_t>(m)] = false, changed = true;
    return changed;
  }

  // -- who reads what another makes

  void join_producers(int i) {
    const std::set<int> producers = units_.before(i);
    for (int p : producers) {
      if (is_number(p) || is_number(i)) continue;
      if (!inside(i) || !inside(p)) {
        if (inside(i) != inside(p)) explain_outside(p, i);
        continue;
      }
      const int a = units_.unit_of(p), b = units_.unit_of(i);
      if (a == b || !may_join(p, i)) continue;
      units_.unite(a, b);
      decided(p, i, true, [&] { return why_joined(units_.op(p), units_.op(i)); });
    }
  }

  void explain_outside(int p, int i) {
    const Operation& out = units_.op(inside(i) ? p : i);
    if (out.has(pir::kGraphInput)) return;
    decided(p, i, false, [&] { return fmt_outside(out); });
  }
  std::string fmt_outside(const Operation& out) const {
    return std::string(out.def().short_name()) + " stays outside: " + why_outside(out, options_);
  }

  bool may_join(int p, int i) {
    if (alone(p) || alone(i)) {
      decided(p, i, false,
              [&] { return std::string("an operator by loop rules: whoever joined it would run in its loops"); });
      return false;
    }
    const int a = units_.unit_of(p), b = units_.unit_of(i);
    if (over_budget(a, b)) {
      decided(p, i, false, [&] { return why_over_budget(); });
      return false;
    }
    int by = units_.way_around(a, b);
    if (by < 0) by = units_.way_around(b, a);
    if (by < 0) return true;
    decided(p, i, false, [&] {
      return "one group would depend on itself by way of " + std::string(units_.op(by).def().short_name());
    });
    return false;
  }

  bool over_budget(int a, int b) const {
    return units_.members(a).size() + units_.members(b).size() > options_.max_ops;
  }
  std::string why_over_budget() const {
    return "budget: a group has at most " + std::to_string(options_.max_ops) + " operations";
  }

  // Constants become part of the code that uses them.
  bool is_number(int i) const {
    const Operation& op = units_.op(i);
    return op.num_operands() == 0 && op.num_results() == 1 && pir::known_value(op.result(0));
  }

  // -- who reads the same

  // What runs over a whole large tensor and what else does: together they read it once.
  void join_siblings() {
    std::vector<Value> shared;
    std::unordered_map<Value, std::vector<int>> readers;
    for (size_t i = 0; i < units_.size(); ++i) {
      if (!inside_[i]) continue;
      for (Value v : units_.op(static_cast<int>(i)).operands()) {
        if (!v || !is_large(v)) continue;
        auto [it, fresh] = readers.try_emplace(v);
        if (fresh) shared.push_back(v);
        it->second.push_back(static_cast<int>(i));
      }
    }
    for (Value v : shared) join_readers(v, readers.at(v));
  }

  void join_readers(Value v, const std::vector<int>& all) {
    int first = -1;
    for (int i : all) {
      if (!runs_over(units_.op(i), v)) {
        if (first >= 0 && units_.unit_of(first) != units_.unit_of(i))
          decided(first, i, false,
                  [&] { return "both read " + shape_text(v) + ", but in different iteration spaces"; });
        continue;
      }
      if (first < 0) {
        first = i;
        continue;
      }
      const int a = units_.unit_of(first), b = units_.unit_of(i);
      if (a == b) continue;
      if (over_budget(a, b)) {
        decided(first, i, false, [&] { return why_over_budget(); });
      } else if (units_.depends(a, b) || units_.depends(b, a)) {
        decided(first, i, false, [&] { return std::string("one needs what follows from the other"); });
      } else {
        units_.unite(a, b);
        decided(first, i, true, [&] { return "both run over " + shape_text(v) + ": it is read once"; });
      }
    }
  }

  static constexpr int64_t kWorthSharing = 1 << 14;  // elements; smaller tensors are in the cache anyway

  static bool is_large(Value v) {
    if (is_list(v) || !v.type().has_shape()) return false;
    int64_t n = 1;
    for (Dim d : v.shape()) n *= d.hint();
    return n >= kWorthSharing;
  }

  // Its loops are those of the elements of v.
  static bool runs_over(const Operation& op, Value v) {
    if (!(op.has(kElementwise | kReduction | kBroadcast))) return false;
    if (op.has(kReduction)) return op.operand(size_t{0}) == v;
    const Value out = op.result(size_t{0});
    return out.type().has_shape() && out.shape() == v.shape();
  }

  // -- what is worth a group

  void evict(int m) {
    units_.leave(m);
    inside_[static_cast<size_t>(m)] = false;
  }

  // Views at a group's end are free outside of it.
  void trim(int unit) {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t k = units_.members(unit).size(); k-- > 0;) {
        const int m = units_.members(unit)[k];
        if (!reinterprets(units_.op(m)) || read_inside(m, unit)) continue;
        if (const int maker = units_.maker(units_.op(m).operand(size_t{0})); maker >= 0)
          decided(maker, m, false, [] { return std::string("a view at the end of a group costs nothing outside"); });
        evict(m);
        changed = true;
        break;
      }
    }
  }

  bool read_inside(int m, int unit) const {
    for (Operation* user : units_.op(m).result(0).users()) {
      const int at = units_.position(user);
      if (at >= 0 && units_.unit_of(at) == unit) return true;
    }
    return false;
  }

  void drop_small() {
    const size_t units = units_.count();
    const size_t least = options_.all ? 1 : options_.min_ops;
    for (size_t u = 0; u < units; ++u) {
      const int unit = static_cast<int>(u);
      if (units_.members(unit).empty() || !inside(units_.members(unit)[0])) continue;
      trim(unit);
      size_t computing = 0;
      const uint64_t light = options_.all ? kView : kIndexMap;
      for (int m : units_.members(unit)) computing += !units_.op(m).has(light) && units_.op(m).info() && !is_number(m);
      if (computing >= least) continue;
      const std::vector<int> all = units_.members(unit);
      if (all.size() > 1)
        decided(all[0], all.back(), false, [&] {
          return "too small: fewer than " + std::to_string(least) + " operations compute, kernels do as well";
        });
      for (int m : all) evict(m);
    }
  }

  bool makes_group(const std::vector<int>& members) const {
    if (members.empty() || !inside(members[0])) return false;
    return members.size() > 1 || (options_.all && !is_number(members[0]));
  }

  Block& block_;
  const FuseOptions& options_;
  Units units_;
  std::vector<bool> inside_;  // may stand in a group
  std::vector<bool> alone_;   // operations by loop rules: whoever joined them would be computed in their loops
};

}  // namespace

void register_fuse_pass() {
  pir::register_pass("cinn_fuse",
                     "puts operations that one kernel can compute into cinn_op.group; options: max_ops, min_ops",
                     [](const pir::PassOptions& options) {
                       FuseOptions fuse;
                       for (auto& [name, value] : options) {
                         check(name == "max_ops" || name == "min_ops", ErrorKind::kValue,
                               "pass \"cinn_fuse\" has no option \"{}\"", name);
                         (name == "max_ops" ? fuse.max_ops : fuse.min_ops) =
                             static_cast<size_t>(std::max(0, std::atoi(value.c_str())));
                       }
                       return pir::make_pass("cinn_fuse", [fuse](Operation& root, pir::PassContext& context) {
                         const size_t n = fuse_groups(root, fuse);
                         context.count("groups", static_cast<int64_t>(n));
                         return n > 0;
                       });
                     });
}

size_t fuse_groups(Operation& root, const FuseOptions& options) {
  std::vector<Block*> blocks;
  root.walk([&](Operation& op) {
    if (op.is("cinn_op.group")) return;
    for (size_t r = 0; r < op.num_regions(); ++r)
      for (size_t b = 0; b < op.region(r).size(); ++b) blocks.push_back(&op.region(r).block(b));
  });
  size_t groups = 0;
  for (Block* block : blocks) groups += Fuser(*block, options).run();
  return groups;
}

CompiledRegion compile_region(const Operation& group, const std::shared_ptr<DeviceBatch>& batch) {
  std::vector<Operation*> ops = group.region(0).front().ops();
  Operation* yield = group.region(0).front().terminator();
  PD_INVARIANT(yield != nullptr);
  std::erase(ops, yield);
  const std::vector<pir::Value> results = yield->operands();
  try {
    TranslatedGroup t = translate(ops, results, {.loops = batch != nullptr});
    if (batch) return {nullptr, compile_for_device(t.group, batch), std::move(t.inputs), std::move(t.symbols)};
    return {compile(t.group), nullptr, std::move(t.inputs), std::move(t.symbols)};
  } catch (const InternalError& e) {
    // A bug in the compiler costs the group, not the program.
    fail(ErrorKind::kNotImplemented, "{} can't be compiled: {}", group.describe(), e.what());
  }
}

void dissolve_group(Operation& group) {
  Block& body = group.region(0).front();
  Operation* yield = body.terminator();
  for (size_t i = 0; i < group.num_results(); ++i) group.result(i).replace_all_uses_with(yield->operand(i));
  yield->erase();
  for (Operation* op : body.ops()) op->move_before(&group);
  group.erase();
}

}  // namespace paddle::cinn
