// What a record's `loops` says, ready for use: a C++ rule by its name, or a nest.
#pragma once
#include "cinn/group/nest_text.h"
#include "cinn/group/translator.h"

namespace paddle::cinn {

struct Loops {
  IndexRule rule = nullptr;    // else `nest`
  std::vector<NestTerm> nest;  // empty: only a kernel computes it
  // Each element of the result is an expression over elements that stand at plain indices: as good on CPUs, too. Other
  // loops are for devices without kernels.
  bool everywhere = false;

  bool exist() const { return rule || !nest.empty(); }
};

// Of an operation's record; of the three operators on lists, which have none. Looked up once per definition and thread.
const Loops& loops_of(const pir::Operation& op);

// Named rules. `everywhere`: they move or make elements.
struct NamedRule {
  const char* name;
  IndexRule rule;
};
using RuleTable = std::span<const NamedRule>;
RuleTable index_rules();    // elements moved and made; used everywhere
RuleTable order_rules();    // sorting
RuleTable product_rules();  // products, convolutions
RuleTable pool_rules();
RuleTable scatter_rules();
RuleTable update_rules();  // optimisers

// An operation by its nest.
void translate_nest(Translator& t, const pir::Operation& op, const std::vector<NestTerm>& nest);

}  // namespace paddle::cinn
