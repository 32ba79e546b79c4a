#include "cinn/simplify/group.h"

#include <bit>
#include <map>
#include <tuple>

namespace paddle::cinn {
namespace {

using Key =
    std::tuple<NodeKind, DType, Shape, std::vector<int>, std::vector<int64_t>, std::vector<Index>, std::vector<Index>>;

Key key_of(const Node& n) {
  std::vector<int64_t> rest{static_cast<int64_t>(n.reduce),  n.axis,          n.slot,
                            std::bit_cast<int64_t>(n.value), n.integer,       n.result_register,
                            static_cast<int64_t>(n.compute), n.combine_inline};
  for (int d : n.dims) rest.push_back(d);
  for (double p : n.params) rest.push_back(std::bit_cast<int64_t>(p));
  for (const auto& i : n.program)
    for (int64_t x :
         {int64_t{static_cast<uint8_t>(i.fn)}, int64_t{i.a}, int64_t{i.b}, int64_t{i.c}, std::bit_cast<int64_t>(i.imm)})
      rest.push_back(x);
  return {n.kind, n.dtype, n.shape, n.operands, std::move(rest), n.starts, n.steps};
}

// A reduction over dimensions of size 1 only converts.
bool reduces_nothing(const Group& g, const Node& n) {
  if (n.kind != NodeKind::kReduce) return false;
  for (int d : n.dims)
    if (!g.nodes[n.operands[0]].shape[d].is(1)) return false;
  return true;
}

}  // namespace

Group simplify_group(const Group& group) {
  std::vector<bool> needed(group.nodes.size());
  for (int o : group.outputs) needed[o] = true;
  for (int i : group.inputs) needed[i] = true;
  for (size_t i = group.nodes.size(); i-- > 0;)
    if (needed[i])
      for (int x : group.nodes[i].operands) needed[x] = true;
  Group out;
  out.pool = group.pool;
  std::map<Key, int> known;
  std::vector<int> moved(group.nodes.size(), -1);
  for (size_t i = 0; i < group.nodes.size(); ++i) {
    if (!needed[i]) continue;
    Node n = group.nodes[i];
    const bool nothing = reduces_nothing(group, n);
    for (int& x : n.operands) x = moved[x];
    if (nothing) {
      Node reshape{NodeKind::kReshape, n.dtype, n.shape, {out.cast(n.operands[0], n.dtype)}};
      n = std::move(reshape);
    }
    auto [it, fresh] = known.try_emplace(key_of(n), static_cast<int>(out.nodes.size()));
    if (fresh) out.nodes.push_back(std::move(n));
    moved[i] = it->second;
  }
  for (int i : group.inputs) out.inputs.push_back(moved[i]);
  for (int o : group.outputs) out.outputs.push_back(moved[o]);
  return out;
}

}  // namespace paddle::cinn
