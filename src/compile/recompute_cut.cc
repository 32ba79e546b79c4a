#include "compile/recompute_cut.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "base/max_flow.h"
#include "compile/recompute_price.h"
#include "pir/dominance.h"
#include "pir/effects.h"

namespace paddle::compile {

using pir::Operation;
using pir::Value;

std::vector<Value> values_read(const Operation& op) {
  std::vector<Value> out;
  for (Value v : op.operands())
    if (v) out.push_back(v);
  if (op.num_regions())
    for (Value v : pir::captured_values(op)) out.push_back(v);
  return out;
}

bool is_constant(const Operation& op) {
  return op.num_operands() == 0 && op.num_regions() == 0 && !op.has(kRandom | pir::kKeep);
}

namespace {

// A search may look at each edge so many times.
constexpr size_t kSteps = 400;

class CutNetwork {
 public:
  CutNetwork(const pir::Block& block, const Operations& backward, bool host)
      : backward_(backward), prices_(block, backward, host) {
    source_ = net_.add_node();
    sink_ = net_.add_node();
    for (Operation& op : const_cast<pir::Block&>(block)) backward.count(&op) ? read_in_backward(op) : add(op);
  }

  std::optional<RecomputeCut> run(std::vector<CutRow>* rows) {
    const auto cut = net_.minimum_cut(source_, sink_, kSteps * (net_.num_edges() + 1));
    if (!cut) return std::nullopt;
    auto behind = [&](int node) { return static_cast<bool>(cut->behind[static_cast<size_t>(node)]); };
    RecomputeCut out;
    for (auto& [op, node] : operations_) {
      if (behind(node)) out.again.push_back(op);
      for (Value v : op->results_vector()) {
        if (!v.type()) continue;
        const Ends ends = values_.at(v);
        if (behind(ends.in) || !behind(ends.out)) continue;
        out.kept.push_back(v);
        if (rows && !op->has(pir::kGraphInput))
          rows->push_back({true, described(v), bytes_of(v), prices_.why_kept(*op)});
      }
      if (rows && behind(node) && prices_.needed(*op) && op->num_results() && !is_constant(*op))
        rows->push_back(
            {false, described(op->result(size_t{0})), bytes_of(op->result(size_t{0})), prices_.why_again(*op)});
    }
    return out;
  }

 private:
  struct Ends {
    int in, out;
  };

  void add(Operation& op) {
    const int node = net_.add_node();
    operations_.emplace_back(&op, node);
    if (const int64_t price = prices_.again(op)) net_.add_edge(source_, node, price);
    for (Value v : values_read(op))
      if (auto it = values_.find(v); it != values_.end()) net_.add_edge(it->second.out, node, FlowNetwork::kInfinite);
    for (Value v : op.results_vector()) {
      if (!v.type()) continue;
      const Ends ends{net_.add_node(), net_.add_node()};
      values_[v] = ends;
      net_.add_edge(node, ends.in, FlowNetwork::kInfinite);
      net_.add_edge(ends.in, ends.out, prices_.keeping(v));
    }
  }

  void read_in_backward(const Operation& op) {
    for (Value v : values_read(op))
      if (auto it = values_.find(v); it != values_.end() && read_.insert(v).second)
        net_.add_edge(it->second.out, sink_, FlowNetwork::kInfinite);
  }

  const Operations& backward_;
  RecomputePrices prices_;
  FlowNetwork net_;
  int source_, sink_;
  std::vector<std::pair<Operation*, int>> operations_;
  std::unordered_map<Value, Ends> values_;
  std::unordered_set<Value> read_;
};

}  // namespace

std::optional<RecomputeCut> minimum_cut(const pir::Block& block, const Operations& backward, bool host,
                                        std::vector<CutRow>* rows) {
  return CutNetwork(block, backward, host).run(rows);
}

RecomputeCut plain_cut(const pir::Block& block, const Operations& backward) {
  RecomputeCut out;
  std::unordered_set<Value> wanted;
  const std::vector<Operation*> ops = const_cast<pir::Block&>(block).ops();
  for (const Operation* op : ops)
    if (backward.count(op))
      for (Value v : values_read(*op)) wanted.insert(v);
  for (size_t i = ops.size(); i-- > 0;) {
    Operation& op = *ops[i];
    if (backward.count(&op)) continue;
    bool used = false;
    for (Value v : op.results_vector()) used |= v.type() && wanted.count(v) > 0;
    if (!used) continue;
    if (is_constant(op) || op.is("builtin.combine")) {
      out.again.push_back(&op);
      for (Value v : values_read(op)) wanted.insert(v);
      continue;
    }
    for (size_t r = op.num_results(); r-- > 0;)
      if (Value v = op.result(r); v.type() && wanted.count(v)) out.kept.push_back(v);
  }
  std::reverse(out.kept.begin(), out.kept.end());
  std::reverse(out.again.begin(), out.again.end());
  return out;
}

}  // namespace paddle::compile
