#include "cinn/schedule/centred.h"

#include "cinn/schedule/axis_sets.h"

namespace paddle::cinn {
namespace {

using scalar::Fn;

// The single instruction of a pointwise node; null if it has more.
const scalar::Instr* single(const Node& n) {
  const bool plain = n.kind == NodeKind::kPointwise && n.program.size() == 1 &&
                     n.result_register == static_cast<int>(n.operands.size() + n.params.size());
  return plain && is_float(n.compute) ? &n.program[0] : nullptr;
}

// c, where node is c * c.
int squared(const Group& g, int node) {
  const Node& n = g.nodes[node];
  const scalar::Instr* i = single(n);
  if (!i) return -1;
  auto operand = [&](uint8_t reg) { return reg < n.operands.size() ? n.operands[reg] : -1; };
  if (i->fn == Fn::square) return operand(i->a);
  if (i->fn == Fn::mul && operand(i->a) == operand(i->b)) return operand(i->a);
  if (i->fn != Fn::pow) return -1;
  const size_t param = i->b - n.operands.size();
  const int exponent = operand(i->b);
  const bool two = exponent >= 0 ? g.nodes[exponent].kind == NodeKind::kConstant && g.nodes[exponent].value == 2
                                 : param < n.params.size() && n.params[param] == 2;
  return two ? operand(i->a) : -1;
}

bool is_constant(const Group& g, const Axes& axes, int node) {
  const NodeKind kind = g.nodes[behind_views(g, axes, node)].kind;
  return kind == NodeKind::kConstant || kind == NodeKind::kSize;
}

// Sums, products and quotients, and choices that constants decide.
bool is_arithmetic(const Node& n, std::vector<bool> varies) {
  varies.resize(n.operands.size() + n.params.size());
  for (const scalar::Instr& i : n.program) {
    const bool plain = i.fn == Fn::add || i.fn == Fn::sub || i.fn == Fn::mul || i.fn == Fn::div || i.fn == Fn::constant;
    if (!plain && (i.fn != Fn::where || varies[i.a])) return false;
    const uint8_t arity = scalar::info(i.fn).arity;
    varies.push_back((arity > 0 && varies[i.a]) || (arity > 1 && varies[i.b]) || (arity > 2 && varies[i.c]));
  }
  return true;
}

// The one operand of an arithmetic operation that is no constant; -1 if there are more.
int variable_operand(const Group& g, const Axes& axes, int node) {
  const Node& n = g.nodes[node];
  if (n.kind != NodeKind::kPointwise) return -1;
  int found = -1;
  std::vector<bool> varies;
  for (size_t k = 0; k < n.operands.size(); ++k) {
    varies.push_back(!is_constant(g, axes, n.operands[k]));
    if (!varies.back()) continue;
    if (found >= 0 || axes.mapped[node][k]) return -1;
    found = n.operands[k];
  }
  return is_arithmetic(n, std::move(varies)) ? found : -1;
}

int sum_behind(const Group& g, const Axes& axes, int mean) {
  for (int n = mean; n >= 0; n = variable_operand(g, axes, n)) {
    n = behind_views(g, axes, n);
    if (g.nodes[n].kind == NodeKind::kReduce) return g.nodes[n].reduce == ReduceKind::kSum ? n : -1;
  }
  return -1;
}

}  // namespace

std::optional<CentredSum> centred_sum(const Group& g, const Axes& axes, int r) {
  const Node& n = g.nodes[r];
  if (n.kind != NodeKind::kReduce || n.reduce != ReduceKind::kSum || n.combine_inline || !is_float(n.dtype)) return {};
  const int c = squared(g, behind_views(g, axes, n.operands[0]));
  if (c < 0 || axes.mapped[r][0]) return {};
  const scalar::Instr* difference = single(g.nodes[c]);
  if (!difference || difference->fn != Fn::sub || g.nodes[c].operands.size() != 2) return {};
  const AxisList all = sorted(axes.nodes[n.operands[0]].all), kept = sorted(axes.nodes[r].all);
  for (int k = 0; k < 2; ++k) {
    CentredSum out{g.nodes[c].operands[k], behind_views(g, axes, g.nodes[c].operands[1 - k]), -1};
    if (axes.mapped[c][0] || axes.mapped[c][1] || sorted(axes.nodes[out.x].all) != all ||
        !subset(axes.nodes[out.mean].all, kept))
      continue;
    out.sum = sum_behind(g, axes, out.mean);
    if (out.sum < 0 || g.nodes[out.sum].combine_inline || axes.mapped[out.sum][0]) continue;
    if (behind_views(g, axes, g.nodes[out.sum].operands[0]) == behind_views(g, axes, out.x) &&
        sorted(axes.nodes[out.sum].all) == kept)
      return out;
  }
  return {};
}

}  // namespace paddle::cinn
