#include "cinn/group/fuse.h"

#include <algorithm>
#include <cstdlib>
#include <queue>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "cinn/group/translator.h"
#include "pir/builder.h"
#include "pir/effects.h"
#include "pir/rewrite/pass.h"

namespace paddle::cinn {
namespace {

using pir::Block;
using pir::Operation;
using pir::Value;

bool is_list(Value v) { return v && v.type().is_vector(); }

// One block's operations, united to units that will stand together.
class Fuser {
 public:
  Fuser(Block& block, const FuseOptions& options) : block_(block), options_(options), ops_(block.ops()) {
    for (size_t i = 0; i < ops_.size(); ++i) {
      position_[ops_[i]] = static_cast<int>(i);
      unit_.push_back(static_cast<int>(i));
      members_.push_back({static_cast<int>(i)});
      inside_.push_back(belongs_inside(*ops_[i]));
      alone_.push_back(inside_.back() && !translatable(*ops_[i]));
    }
    find_edges();
    bind_lists();
  }

  size_t run() {
    for (size_t i = 0; i < ops_.size(); ++i)
      if (inside_[i]) join_producers(static_cast<int>(i));
    join_siblings();
    drop_small();
    return rebuild();
  }

 private:
  bool belongs_inside(const Operation& op) const {
    // Kernels check indices and say which is wrong; a compiled group reads a row that exists and says nothing.
    // A group's sizes must be known before it runs.
    if (!pir::sizes_told_by(op).empty()) return false;
    if (!options_.all) return translatable(op) && !picks_rows(op);
    return translatable(op, {.loops = true}) && !op.has(kInplaceOnly);
  }

  // -- dependence

  void find_edges() {
    before_.resize(ops_.size());
    int last_effect = -1;
    std::unordered_map<int64_t, int> tellers;  // of sizes, by their symbols
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (!tellers.empty()) follow_tellers(i, tellers);
      if (!inside_[i])
        for (Dim d : pir::sizes_told_by(*ops_[i])) tellers.try_emplace(d.bits(), static_cast<int>(i));
      auto use = [&](Value v) {
        if (!v || !v.is_result()) return;
        auto it = position_.find(v.defining_op());
        if (it != position_.end() && it->second != static_cast<int>(i)) before_[i].insert(it->second);
      };
      ops_[i]->walk([&](Operation& op) {
        for (Value v : op.operands()) use(v);
      });
      if (ops_[i]->has(pir::kDistinct) || ops_[i]->num_regions()) {
        if (last_effect >= 0) before_[i].insert(last_effect);
        last_effect = static_cast<int>(i);
      }
    }
  }

  void follow_tellers(size_t i, const std::unordered_map<int64_t, int>& tellers) {
    std::vector<Dim> sizes;
    ops_[i]->walk([&](Operation& op) { pir::sizes_in(op, sizes); });
    for (Dim d : sizes)
      if (auto it = tellers.find(d.bits()); it != tellers.end()) before_[i].insert(it->second);
  }

  // Whether unit `to` needs unit `from` by way of some other unit.
  bool reaches_around(int from, int to) const {
    std::vector<int> work;
    std::vector<bool> seen(ops_.size());
    const int earliest = *std::min_element(members_[from].begin(), members_[from].end());
    auto push = [&](int unit, bool direct) {
      for (int m : members_[unit])
        for (int p : before_[m]) {
          const int u = unit_[p];
          if (u == to || seen[u] || (direct && u == from)) continue;
          if (members_[u].back() < earliest && members_[u].size() == 1) continue;  // too early to depend on `from`
          seen[u] = true;
          work.push_back(u);
        }
    };
    push(to, true);
    while (!work.empty()) {
      const int u = work.back();
      work.pop_back();
      if (u == from) return true;
      push(u, false);
    }
    return false;
  }

  // -- uniting

  void unite(int a, int b) {
    if (a == b) return;
    if (members_[a].size() < members_[b].size()) std::swap(a, b);
    for (int m : members_[b]) unit_[m] = a;
    members_[a].insert(members_[a].end(), members_[b].begin(), members_[b].end());
    std::sort(members_[a].begin(), members_[a].end());
    members_[b].clear();
  }

  // A list of tensors exists only inside a group: its maker and its readers stand together, or none is in a group.
  void bind_lists() {
    for (size_t i = 0; i < ops_.size(); ++i)
      for (size_t r = 0; r < ops_[i]->num_results(); ++r) {
        Value v = ops_[i]->result(r);
        if (!is_list(v)) continue;
        bool all = inside_[i];
        for (Operation* user : v.users()) {
          auto it = position_.find(user);
          all &= it != position_.end() && inside_[it->second];
        }
        for (Operation* user : v.users()) {
          auto it = position_.find(user);
          if (it == position_.end()) continue;
          if (all)
            unite(unit_[i], unit_[it->second]);
          else
            inside_[it->second] = false;
        }
        if (!all) inside_[i] = false;
      }
    // An operation that left may have left others' lists behind.
    bool changed = true;
    while (changed) {
      changed = false;
      for (const auto& members : members_) {
        bool all = true;
        for (int m : members) all &= inside_[m];
        if (all) continue;
        for (int m : members)
          if (inside_[m]) inside_[m] = false, changed = true;
      }
    }
  }

  void join_producers(int i) {
    const std::set<int> producers = before_[i];
    for (int p : producers) {
      const int a = unit_[p], b = unit_[i];
      if (a == b || !inside_[p] || is_number(p) || alone_[p] || alone_[i]) continue;
      if (members_[a].size() + members_[b].size() > options_.max_ops) continue;
      if (reaches_around(a, b) || reaches_around(b, a)) continue;
      unite(a, b);
    }
  }

  // What runs over a whole large tensor and what else does: together they read it once.
  void join_siblings() {
    std::vector<Value> shared;
    std::unordered_map<Value, std::vector<int>> readers;
    for (size_t i = 0; i < ops_.size(); ++i)
      for (Value v : ops_[i]->operands()) {
        if (!v || !inside_[i] || !runs_over(*ops_[i], v)) continue;
        auto [it, fresh] = readers.try_emplace(v);
        if (fresh) shared.push_back(v);
        it->second.push_back(static_cast<int>(i));
      }
    for (Value v : shared) {
      const std::vector<int>& all = readers.at(v);
      for (size_t k = 1; k < all.size(); ++k) {
        const int a = unit_[all[0]], b = unit_[all[k]];
        if (a == b || members_[a].size() + members_[b].size() > options_.max_ops) continue;
        if (depends(a, b) || depends(b, a)) continue;
        unite(a, b);
      }
    }
  }

  static constexpr int64_t kWorthSharing = 1 << 14;  // elements; smaller tensors are in the cache anyway

  // Its loops are those of the elements of v, of which there are many.
  static bool runs_over(const Operation& op, Value v) {
    if (is_list(v) || !v.type().has_shape() || !(op.has(kElementwise | kReduction | kBroadcast))) return false;
    int64_t n = 1;
    for (Dim d : v.shape()) n *= d.hint();
    if (n < kWorthSharing) return false;
    if (op.has(kReduction)) return op.operand(size_t{0}) == v;
    const Value out = op.result(size_t{0});
    return out.type().has_shape() && out.shape() == v.shape();
  }

  // Whether unit `to` needs unit `from`, directly or not.
  bool depends(int from, int to) const {
    for (int m : members_[to])
      for (int p : before_[m])
        if (unit_[p] == from) return true;
    return reaches_around(from, to);
  }

  // Constants become part of the code that uses them.
  bool is_number(int i) const {
    return ops_[i]->num_operands() == 0 && ops_[i]->num_results() == 1 && pir::known_value(ops_[i]->result(0));
  }

  // -- choosing

  bool used_outside(Value v, int unit) const {
    for (Operation* user : v.users()) {
      auto it = position_.find(user);
      if (it == position_.end() || unit_[it->second] != unit) return true;
    }
    return false;
  }

  void evict(int m) {
    const int unit = unit_[m];
    std::erase(members_[unit], m);
    const int fresh = static_cast<int>(members_.size());
    members_.push_back({m});
    unit_[m] = fresh;
    inside_[m] = false;
  }

  // Views at a group's end are free outside of it.
  void trim(int unit) {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t k = members_[unit].size(); k-- > 0;) {
        const int m = members_[unit][k];
        if (!reinterprets(*ops_[m])) continue;
        bool inner_use = false;
        for (Operation* user : ops_[m]->result(0).users()) {
          auto it = position_.find(user);
          inner_use |= it != position_.end() && unit_[it->second] == unit;
        }
        if (inner_use) continue;
        evict(m);
        changed = true;
        break;
      }
    }
  }

  void drop_small() {
    const size_t units = members_.size();
    for (size_t u = 0; u < units; ++u) {
      if (members_[u].empty() || !inside_[members_[u][0]]) continue;
      trim(static_cast<int>(u));
      size_t computing = 0;
      const uint64_t light = options_.all ? kView : kIndexMap;
      for (int m : members_[u]) computing += !ops_[m]->has(light) && ops_[m]->info() && !is_number(m);
      if (computing >= (options_.all ? 1 : options_.min_ops)) continue;
      for (std::vector<int> all = members_[u]; int m : all) evict(m);
    }
  }

  // -- rebuilding

  // Units in an order that respects all edges, each as late as its last member stood.
  std::vector<int> unit_order() const {
    std::vector<std::set<int>> after(members_.size());
    std::vector<int> waiting(members_.size(), 0);
    for (size_t i = 0; i < ops_.size(); ++i)
      for (int p : before_[i])
        if (unit_[p] != unit_[i] && after[unit_[p]].insert(unit_[i]).second) ++waiting[unit_[i]];
    using Entry = std::pair<int, int>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (size_t u = 0; u < members_.size(); ++u)
      if (!members_[u].empty() && waiting[u] == 0) ready.push({members_[u].back(), static_cast<int>(u)});
    std::vector<int> order;
    while (!ready.empty()) {
      const int u = ready.top().second;
      ready.pop();
      order.push_back(u);
      for (int v : after[u])
        if (--waiting[v] == 0) ready.push({members_[v].back(), v});
    }
    size_t count = 0;
    for (const auto& m : members_) count += !m.empty();
    PD_INVARIANT(order.size() == count);
    return order;
  }

  bool makes_group(const std::vector<int>& members) const {
    if (members.empty() || !inside_[members[0]]) return false;
    return members.size() > 1 || (options_.all && !is_number(members[0]));
  }

  size_t rebuild() {
    size_t groups = 0;
    bool any = false;
    for (const auto& m : members_) any |= makes_group(m);
    if (!any) return 0;
    Operation* terminator = block_.terminator();
    for (int u : unit_order()) {
      const auto& members = members_[u];
      if (makes_group(members)) {
        make_group(u);
        ++groups;
      } else {
        for (int m : members) ops_[m]->move_to_end(&block_);
      }
    }
    if (terminator) terminator->move_to_end(&block_);
    return groups;
  }

  void make_group(int unit) {
    std::vector<Value> inputs, outputs;
    std::vector<pir::Type> types;
    for (int m : members_[unit]) {
      for (Value v : ops_[m]->operands()) {
        if (!v || std::find(inputs.begin(), inputs.end(), v) != inputs.end()) continue;
        auto it = v.is_result() ? position_.find(v.defining_op()) : position_.end();
        if (it == position_.end() || unit_[it->second] != unit) inputs.push_back(v);
      }
      for (size_t r = 0; r < ops_[m]->num_results(); ++r) {
        Value v = ops_[m]->result(r);
        if (!used_outside(v, unit)) continue;
        outputs.push_back(v);
        types.push_back(v.type());
      }
    }
    pir::Builder builder(&block_, ops_[members_[unit].back()]->loc());
    Operation* group = builder.create(pir::op_def("cinn_op.group"), inputs, {}, types, 1);
    Block& body = group->region(0).ensure_block();
    for (int m : members_[unit]) ops_[m]->move_to_end(&body);
    for (size_t i = 0; i < outputs.size(); ++i)
      outputs[i].replace_uses_if(group->result(i),
                                 [&](pir::OpOperand& use) { return !group->is_ancestor_of(use.owner()); });
    pir::Builder(&body).yield(outputs);
  }

  Block& block_;
  const FuseOptions& options_;
  std::vector<Operation*> ops_;
  std::unordered_map<const Operation*, int> position_;
  std::vector<std::set<int>> before_;
  std::vector<int> unit_;                  // of each operation
  std::vector<std::vector<int>> members_;  // of each unit, in order
  std::vector<bool> inside_;               // may stand in a group
  std::vector<bool> alone_;  // operations by loop rules: whoever joined them would be computed in their loops
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
