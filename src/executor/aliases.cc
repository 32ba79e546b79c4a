#include "executor/aliases.h"

#include <algorithm>
#include <limits>

#include "phi/kernels/registry.h"
#include "pir/dominance.h"

namespace paddle::executor {

using pir::Operation;
using pir::Value;

Aliases::Aliases(const pir::Block& block, Place place) : place_(place) {
  size_t at = 0;
  for (Operation& op : const_cast<pir::Block&>(block)) {
    number_[&op] = at;
    visit(op, at++);
  }
}

// Makes its results in memory of their own; all others may hand on what they were given.
bool Aliases::fresh(const Operation& op) const {
  if (op.is("cinn_op.group") || op.has(pir::kGraphInput) || op.has(pir::kConstantLike)) return true;
  if (!op.info() || op.num_regions() || !kernels::find_kernel(*op.info(), place_.kind)) return false;
  if (op.info()->has(kView | kInplaceOnly | kDataDependentShape | kCollective | kSideEffect)) return false;
  for (Value v : op.results_vector())
    if (v.type() && v.type().is_vector()) return false;
  return true;
}

void Aliases::visit(Operation& op, size_t at) {
  std::set<size_t> read;
  auto use = [&](Value v) {
    if (auto it = roots_.find(v); it != roots_.end()) read.insert(it->second.begin(), it->second.end());
  };
  for (Value v : op.operands())
    if (v) use(v);
  if (op.num_regions())
    for (Value v : pir::captured_values(op)) use(v);
  // Results of the program are read when all else is done.
  const size_t when = op.has(pir::kGraphOutput) ? std::numeric_limits<size_t>::max() : at;
  for (size_t root : read) last_read_[root] = std::max(last_read_[root], when);
  const bool own = fresh(op);
  for (Value v : op.results_vector()) {
    if (!v.type()) continue;
    if (!own) {
      roots_[v] = read;
      continue;
    }
    roots_[v] = {last_read_.size()};
    last_read_.push_back(0);
  }
}

bool Aliases::read_after(Value v, const Operation& op) const {
  auto it = roots_.find(v);
  if (it == roots_.end() || it->second.size() != 1) return true;
  return last_read_[*it->second.begin()] > number_.at(&op);
}

bool Aliases::overlap(Value a, Value b) const {
  const auto x = roots_.find(a), y = roots_.find(b);
  if (x == roots_.end() || y == roots_.end()) return true;
  return std::any_of(x->second.begin(), x->second.end(), [&](size_t root) { return y->second.count(root) > 0; });
}

}  // namespace paddle::executor
