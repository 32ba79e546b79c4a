// The sharding rule of an operator, as its record writes it in `spmd`: einsum-like, in factors.
//
//   rule     := 'rule:' NAME                      a C++ function registered under NAME
//             | terms '->' terms { ';' clause }   (between clauses a comma will do)
//   terms    := term { ',' term }                 one for each tensor argument / output, in the record's order
//   term     := [ '[' ] dims [ ']' ] [ '^' ATTR ] brackets: a list of tensors, each of this form;
//             | '_'                               ^ATTR: the last two dims change places if the flag ATTR is true;
//                                                 '_': any rank, always Replicate (an output: scratch)
//   dims     := { dim }                           no dim at all: a 0-D tensor
//   dim      := LETTER                            a factor: dims with the same letter are sharded alike
//             | '(' LETTER LETTER... ')'          a dimension that is the product of factors, outermost first
//             | '...'                             all other dimensions, aligned at the right and broadcast
//             | '1'                               a dimension that is never sharded
//   clause   := KIND factor { factor } [ '+' INPUT... ]
//   KIND     := sum avg(mean) max min prod any all      sharding the factor makes outputs that lack it Partial(KIND).
//   Inputs
//                                                 after '+' (a bias) are added to the result, so they turn Partial too
//             | whole                             the factor must not be sharded
//             | local                             may be sharded only because the operator has a `local` form; outputs
//                                                 may then lack it, and it may stand in outputs alone
//             | at                                says nothing but where the factor stands (see below)
//   factor   := LETTER | '...' | LETTER '(' ATTR ')' | LETTER '(' ATTR ':)' | LETTER '(:' ATTR ')'
//   clause   := linear | monotone | moves  INPUT... { '|' INPUT... }
//                                                 Partial passes if all these inputs are Partial and the others are
//                                                 Replicate; '|' separates alternatives. linear: sum, avg; monotone:
//                                                 max, min, any, all; moves: every kind
//   INPUT    := number of the argument, or its name
//
// i(axis): in terms with '...', i stands not where it is written but at the dimension(s) that attribute `axis` names: a
// number, a list (then i is that many factors), nothing or an empty list (every dimension), or a layout string such as
// "NHWC" (where the factor's letter stands in it). Negative axes count from the end. `axis:` means from axis to the
// last, `:axis` all before it. Where a term lacks i, its dimensions are gone; or kept with size 1 (keepdim) if the
// rank says so.
//
// A tensor with too few dimensions (matmul's vectors) lacks the leading factors that no other input has; so do outputs.
// A factor that only inputs have, without a clause, or that only outputs have, is whole. Sizes 1 broadcast.
//
//   add          "..., ... -> ...; linear 0 1"
//   matmul       "...ik^transpose_x, ...kj^transpose_y -> ...ij; sum k; linear 0 | 1"
//   linear       "...k, kj, j -> ...j; sum k + 2"
//   sum          "i... -> ...; sum i(axis); linear 0"
//   softmax      "i... -> i...; whole i(axis)"
//   layer_norm   "i..., w, w -> i..., ..., ...; whole i(begin_norm_axis:) w"
//   batch_norm   "nc..., c, c, c, c -> nc..., c, c, c, c, _; whole n ...; at c(data_format)"
//   embedding    "..., vd -> ...d; sum v; local v"
//   concat       "[i...] -> i...; whole i(axis); moves 0"
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "spmd/rule_instance.h"

namespace paddle::spmd {

struct RuleDim {
  std::string factors;  // one letter, several when compound, none for '1'
};

struct RuleTerm {
  std::vector<RuleDim> before, after;  // around the ellipsis; without one, all dims are in `before`
  bool ellipsis = false;
  bool list = false;
  bool any = false;       // '_'
  std::string swap_flag;  // ^ATTR
};

struct RuleBinding {
  enum Range : uint8_t { kAxes, kFrom, kBefore };
  char factor = 0;
  std::string attr;
  Range range = kAxes;
};

struct FactorClause {
  enum Kind : uint8_t { kReduce, kWhole, kLocal };
  Kind kind = kWhole;
  PartialKind reduce = PartialKind::kSum;
  std::string factors;                // letters; '.' stands for the ellipsis
  std::vector<std::string> additive;  // INPUTs after '+'
};

struct PassClause {
  PartialPass::Through through = PartialPass::kLinear;
  std::vector<std::string> inputs;
};

struct FactorRule {
  std::string text;
  std::string named;  // of `rule: NAME`; the rest is empty then
  std::vector<RuleTerm> inputs, outputs;
  std::vector<RuleBinding> bindings;
  std::vector<FactorClause> clauses;
  std::vector<PassClause> passes;

  // Raises ValueError with the column when `text` is not a rule, or a clause names an unknown factor.
  static FactorRule parse(std::string_view text);

  // The record's field `linear_in`: Partial passes if all of these inputs are Partial together, as in `linear x y`. A
  // rule that says itself what passes (a clause, or a named rule) keeps its own word.
  void add_linear_in(std::vector<std::string> names);

  // Applies the rule to a call. Never raises for odd shapes: what does not fit is replicate_all, with the reason.
  RuleInstance instantiate(const CallInfo& call) const;
};

// Named rules; named_rules.cc lists the built-in ones. Registering again replaces.
using RuleFunction = RuleInstance (*)(const CallInfo&);
RuleFunction find_rule(std::string_view name);  // nullptr if there is none

}  // namespace paddle::spmd
