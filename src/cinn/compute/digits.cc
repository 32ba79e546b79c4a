#include "cinn/compute/digits.h"

#include <algorithm>

namespace paddle::cinn {
namespace {

using scalar::Fn;

// The function that a pointwise node is, if it is one alone; else Fn::constant.
Fn only_function(const Node& n) {
  return n.kind == NodeKind::kPointwise && n.program.size() == 1 ? n.program[0].fn : Fn::constant;
}

class Digits {
 public:
  explicit Digits(const Group& group) : nodes_(group.nodes), allowed_(nodes_.size(), kAny) {
    for (int o : group.outputs) ask(o, kNone);  // as it is; what is rounded to bfloat16 comes by a node of that type
    for (size_t i = nodes_.size(); i-- > 0;) ask_operands(nodes_[i], allowed_[i]);
  }

  bool counts(size_t node) const {
    return nodes_[node].dtype == DType::kFloat32 && allowed_[node] >= 1 && allowed_[node] < kAny;
  }

 private:
  static constexpr int kNone = 0, kRounded = 4, kAny = 1 << 20;  // relative errors, in 2^-13

  void ask(int node, int errors) {
    int& a = allowed_[static_cast<size_t>(node)];
    a = std::min(a, errors);
  }

  void ask_operands(const Node& n, int errors) {
    for (int x : n.operands) ask(x, passed_on(n, x, errors));
  }

  // How large an error operand x may have, where n's may be `errors`.
  int passed_on(const Node& n, int x, int errors) const {
    switch (n.kind) {
      case NodeKind::kCast:
        if (n.dtype == DType::kBFloat16) return kRounded;
        return n.dtype == DType::kFloat32 ? errors : kNone;
      case NodeKind::kBroadcast:
      case NodeKind::kReshape:
      case NodeKind::kTranspose:
      case NodeKind::kSlice:
        return errors;
      case NodeKind::kReduce:
        if (n.reduce == ReduceKind::kMax || n.reduce == ReduceKind::kMin) return errors;
        return n.reduce == ReduceKind::kSum && never_negative(x) ? errors : kNone;
      case NodeKind::kPointwise: {
        const Fn fn = only_function(n);
        return n.dtype == DType::kFloat32 && (fn == Fn::mul || fn == Fn::div) ? errors / 2 : kNone;
      }
      default:
        return kNone;
    }
  }

  // So that a sum of them has no larger relative error than they have.
  bool never_negative(int x) const {
    const Node& n = nodes_[static_cast<size_t>(x)];
    const Fn fn = only_function(n);
    if (fn == Fn::exp || fn == Fn::exp2 || fn == Fn::sigmoid || fn == Fn::abs || fn == Fn::square) return true;
    const bool same = fn == Fn::mul || fn == Fn::div || n.kind == NodeKind::kBroadcast ||
                      n.kind == NodeKind::kReshape || n.kind == NodeKind::kTranspose || n.kind == NodeKind::kSlice;
    return same && std::all_of(n.operands.begin(), n.operands.end(), [&](int y) { return never_negative(y); });
  }

  const std::vector<Node>& nodes_;
  std::vector<int> allowed_;
};

}  // namespace

std::vector<bool> count_as_bfloat(const Group& group) {
  const Digits digits(group);
  std::vector<bool> out(group.nodes.size());
  for (size_t i = 0; i < out.size(); ++i) out[i] = digits.counts(i);
  return out;
}

}  // namespace paddle::cinn
