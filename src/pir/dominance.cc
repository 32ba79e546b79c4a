#include "pir/dominance.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace paddle::pir {

Operation* ancestor_in(const Block& block, Operation* op) {
  while (op && op->block() != &block) op = op->parent_op();
  return op;
}

bool dominates(Value v, const Operation& user) {
  Block* home = v.owner_block();
  if (!home) return false;  // a detached operation
  Operation* at = ancestor_in(*home, const_cast<Operation*>(&user));
  if (!at) return false;
  if (v.is_argument()) return true;
  Operation* def = v.defining_op();
  return def != at && def->is_before(at);
}

std::vector<Value> captured_values(const Operation& op) {
  std::vector<Value> r;
  std::unordered_set<Value> seen;
  const_cast<Operation&>(op).walk([&](Operation& inner) {
    if (&inner == &op) return;
    for (const OpOperand& o : inner.op_operands()) {
      Value v = o.get();
      if (!v || seen.count(v)) continue;
      Block* home = v.owner_block();
      bool inside = home && home->parent_op() && op.is_ancestor_of(home->parent_op());
      if (inside) continue;
      seen.insert(v);
      r.push_back(v);
    }
  });
  return r;
}

bool sort_topologically(Block& block) {
  // Kahn's algorithm over "op waits for n definitions of this block", first come first served.
  std::vector<Operation*> ops = block.ops();
  std::unordered_map<Operation*, size_t> waits;
  std::unordered_map<Operation*, std::vector<Operation*>> followers;
  for (Operation* op : ops) {
    std::unordered_set<Operation*> sources;
    op->walk([&](Operation& inner) {
      for (OpOperand& o : inner.op_operands()) {
        if (!o.get() || o.get().is_argument()) continue;
        Operation* source = ancestor_in(block, o.get().defining_op());
        if (source && source != op) sources.insert(source);
      }
    });
    waits[op] = sources.size();
    for (Operation* s : sources) followers[s].push_back(op);
  }
  std::unordered_map<Operation*, size_t> rank;
  for (size_t i = 0; i < ops.size(); ++i) rank[ops[i]] = i;
  auto later = [&](Operation* a, Operation* b) { return rank[a] > rank[b]; };
  std::vector<Operation*> ready, sorted;
  for (Operation* op : ops)
    if (waits[op] == 0) ready.push_back(op);
  std::make_heap(ready.begin(), ready.end(), later);
  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end(), later);
    Operation* op = ready.back();
    ready.pop_back();
    sorted.push_back(op);
    for (Operation* f : followers[op])
      if (--waits[f] == 0) {
        ready.push_back(f);
        std::push_heap(ready.begin(), ready.end(), later);
      }
  }
  if (sorted.size() != ops.size()) return false;
  for (Operation* op : sorted) op->move_to_end(&block);
  return true;
}

}  // namespace paddle::pir
