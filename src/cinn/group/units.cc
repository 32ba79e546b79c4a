#include "cinn/group/units.h"

#include <algorithm>
#include <queue>

#include "api/op_info.h"
#include "base/error.h"
#include "pir/effects.h"
#include "pir/op_def.h"

namespace paddle::cinn {

using pir::Operation;
using pir::Value;

Units::Units(pir::Block& block) : ops_(block.ops()) {
  for (size_t i = 0; i < ops_.size(); ++i) {
    position_[ops_[i]] = static_cast<int>(i);
    unit_.push_back(static_cast<int>(i));
    members_.push_back({static_cast<int>(i)});
  }
  find_edges();
}

int Units::position(const Operation* user) const {
  auto it = position_.find(user);
  return it == position_.end() ? -1 : it->second;
}

int Units::maker(Value v) const { return v && v.is_result() ? position(v.defining_op()) : -1; }

void Units::find_edges() {
  before_.resize(ops_.size());
  int last_effect = -1;
  std::unordered_map<int64_t, int> tellers;  // of sizes, by their symbols
  for (size_t i = 0; i < ops_.size(); ++i) {
    if (!tellers.empty()) follow_tellers(i, tellers);
    for (Dim d : pir::sizes_told_by(*ops_[i])) tellers.try_emplace(d.bits(), static_cast<int>(i));
    ops_[i]->walk([&](Operation& op) {
      for (Value v : op.operands())
        if (const int p = maker(v); p >= 0 && p != static_cast<int>(i)) before_[i].insert(p);
    });
    if (ops_[i]->has(pir::kDistinct) || ops_[i]->num_regions()) {
      if (last_effect >= 0) before_[i].insert(last_effect);
      last_effect = static_cast<int>(i);
    }
  }
}

void Units::follow_tellers(size_t i, const std::unordered_map<int64_t, int>& tellers) {
  std::vector<Dim> sizes;
  ops_[i]->walk([&](Operation& op) { pir::sizes_in(op, sizes); });
  for (Dim d : sizes)
    if (auto it = tellers.find(d.bits()); it != tellers.end()) before_[i].insert(it->second);
}

void Units::unite(int a, int b) {
  if (a == b) return;
  if (members(a).size() < members(b).size()) std::swap(a, b);
  std::vector<int>& into = members_[static_cast<size_t>(a)];
  std::vector<int>& from = members_[static_cast<size_t>(b)];
  for (int m : from) unit_[static_cast<size_t>(m)] = a;
  into.insert(into.end(), from.begin(), from.end());
  std::sort(into.begin(), into.end());
  from.clear();
}

void Units::leave(int i) {
  std::erase(members_[static_cast<size_t>(unit_of(i))], i);
  unit_[static_cast<size_t>(i)] = static_cast<int>(members_.size());
  members_.push_back({i});
}

int Units::way_around(int from, int to) const {
  struct Step {
    int unit, first;  // first: the operation by which the way leaves `to`
  };
  std::vector<Step> work;
  std::vector<bool> seen(members_.size());
  const int earliest = *std::min_element(members(from).begin(), members(from).end());
  auto push = [&](int unit, int first) {
    for (int m : members(unit))
      for (int p : before(m)) {
        const int u = unit_of(p);
        if (u == to || seen[static_cast<size_t>(u)] || (first < 0 && u == from)) continue;
        if (members(u).back() < earliest && members(u).size() == 1) continue;  // too early to depend on `from`
        seen[static_cast<size_t>(u)] = true;
        work.push_back({u, first < 0 ? p : first});
      }
  };
  push(to, -1);
  while (!work.empty()) {
    const Step s = work.back();
    work.pop_back();
    if (s.unit == from) return s.first;
    push(s.unit, s.first);
  }
  return -1;
}

bool Units::depends(int from, int to) const {
  for (int m : members(to))
    for (int p : before(m))
      if (unit_of(p) == from) return true;
  return way_around(from, to) >= 0;
}

bool Units::used_outside(Value v, int unit) const {
  for (Operation* user : v.users()) {
    const int at = position(user);
    if (at < 0 || unit_of(at) != unit) return true;
  }
  return false;
}

std::vector<int> Units::order() const {
  std::vector<std::set<int>> after(members_.size());
  std::vector<int> waiting(members_.size(), 0);
  for (size_t i = 0; i < ops_.size(); ++i)
    for (int p : before_[i]) {
      const int from = unit_of(p), to = unit_[i];
      if (from != to && after[static_cast<size_t>(from)].insert(to).second) ++waiting[static_cast<size_t>(to)];
    }
  using Entry = std::pair<int, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  auto push = [&](int u) { ready.push({members(u).back(), u}); };
  size_t count = 0;
  for (size_t u = 0; u < members_.size(); ++u) {
    if (members_[u].empty()) continue;
    ++count;
    if (waiting[u] == 0) push(static_cast<int>(u));
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int u = ready.top().second;
    ready.pop();
    order.push_back(u);
    for (int v : after[static_cast<size_t>(u)])
      if (--waiting[static_cast<size_t>(v)] == 0) push(v);
  }
  PD_INVARIANT(order.size() == count);
  return order;
}

}  // namespace paddle::cinn
