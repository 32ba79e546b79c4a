#include "cinn/group/loops.h"

#include <algorithm>

#include "base/error.h"
#include "cinn/group/list_rules.h"

namespace paddle::cinn {
namespace {

IndexRule named(RuleTable table, std::string_view name) {
  auto it = std::find_if(table.begin(), table.end(), [&](const NamedRule& r) { return name == r.name; });
  return it == table.end() ? nullptr : it->rule;
}

bool reads_plainly(const NestTerm& t) {
  if (t.word == "reduce") return false;
  if (t.word == "read") {
    return std::all_of(t.items.begin() + 1, t.items.end(), [](const NestTerm& place) {
      return !place.is_list || place.word == "i" || (place.word == "along" && place.items[0].word == "i");
    });
  }
  return std::all_of(t.items.begin(), t.items.end(), reads_plainly);
}

Loops make(const pir::Operation& op) {
  Loops out;
  if (!op.info()) {
    out.rule = list_rule(op);
    out.everywhere = out.rule != nullptr;
    return out;
  }
  const std::string_view text = op.info()->loops;
  constexpr std::string_view kRule = "rule ";
  if (text.empty() || text == "kernel") return out;
  if (text.substr(0, kRule.size()) != kRule) {
    out.nest = parse_nest(text);
    out.everywhere = std::all_of(out.nest.begin(), out.nest.end(), reads_plainly);
    return out;
  }
  const std::string_view name = text.substr(kRule.size());
  out.rule = named(index_rules(), name);
  out.everywhere = out.rule != nullptr;
  for (RuleTable table : {order_rules(), product_rules(), pool_rules(), scatter_rules(), update_rules()})
    if (!out.rule) out.rule = named(table, name);
  PD_INVARIANT(out.rule != nullptr);
  return out;
}

}  // namespace

const Loops& loops_of(const pir::Operation& op) {
  thread_local std::unordered_map<const pir::OpDef*, Loops> known;
  auto it = known.find(&op.def());
  if (it == known.end()) it = known.emplace(&op.def(), make(op)).first;
  return it->second;
}

}  // namespace paddle::cinn
