#include "cinn/schedule/cost.h"

#include <algorithm>

namespace paddle::cinn {

double cost_of(scalar::Fn fn) {
  using scalar::Fn;
  switch (fn) {
    case Fn::constant:
    case Fn::real:
    case Fn::conj:
      return 0;
    case Fn::div:
    case Fn::floor_div:
    case Fn::mod:
    case Fn::fmod:
    case Fn::sqrt:
    case Fn::rsqrt:
    case Fn::reciprocal:
      return 5;
    case Fn::exp:
    case Fn::exp2:
    case Fn::log:
    case Fn::log2:
      return 10;
    case Fn::tanh:
    case Fn::sigmoid:
    case Fn::expm1:
    case Fn::log1p:
    case Fn::log10:
    case Fn::erf:
    case Fn::sin:
    case Fn::cos:
    case Fn::tan:
      return 16;
    case Fn::pow:
      return 30;
    default:
      return scalar::info(fn).arity >= 1 && fn >= Fn::cbrt && fn <= Fn::i1e ? 40 : 1;
  }
}

double cost_of(const Node& node) {
  switch (node.kind) {
    case NodeKind::kPointwise: {
      double sum = 0;
      for (const auto& i : node.program) sum += cost_of(i.fn);
      return sum;
    }
    case NodeKind::kTake:
    case NodeKind::kGather:
      return 8;
    case NodeKind::kConcat:
    case NodeKind::kPad:
      return 4;
    case NodeKind::kCast:
      return 1;
    case NodeKind::kReduce:
      return 1;
    default:
      return 0;
  }
}

bool is_anchor(const Node& node) { return node.kind == NodeKind::kReduce && !node.combine_inline; }

double SubtreeCosts::of(int node) {
  auto [it, fresh] = known_.try_emplace(node, 0);
  if (!fresh) return it->second;
  const Node& n = group_.nodes[static_cast<size_t>(node)];
  double sum = cost_of(n);
  if (!is_anchor(n))
    for (int x : n.operands) sum += of(x);
  return known_[node] = std::min(sum, 1e6);
}

}  // namespace paddle::cinn
