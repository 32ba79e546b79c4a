#include <memory>

#include "base/error.h"
#include "passes/match.h"
#include "passes/passes.h"
#include "pir/op_args.h"
#include "pir/rewrite/pattern.h"

namespace paddle::passes {

using pir::Attribute;
using pir::AttrKind;
using pir::Block;
using pir::Operation;
using pir::PatternSet;
using pir::Rewriter;
using pir::Value;

namespace {

// x where an operation of one tensor gives back that tensor: the type alone must tell, sizes included.
bool same_type(Operation& op, Rewriter& r) {
  Value x = op.operand(0);
  if (!x || x.type() != op.result(0).type()) return false;
  for (Dim d : x.shape())
    if (d.is_const() && d.value() < 0) return false;  // unknown sizes aren't equal sizes
  r.replace(&op, x);
  return true;
}

std::vector<int64_t> permutation_of(const Operation& op) {
  std::vector<int64_t> perm;
  Attribute a = op.attr("perm");
  if (a.kind() != AttrKind::kArray && a.kind() != AttrKind::kIntArray) return perm;
  auto rank = static_cast<int64_t>(op.operand(0).shape().size());
  for (Dim d : a.as_ints()) perm.push_back(d.value() < 0 ? d.value() + rank : d.value());
  if (static_cast<int64_t>(perm.size()) != rank) perm.clear();
  return perm;
}

bool identity_transpose(Operation& op, Rewriter& r) {
  std::vector<int64_t> perm = permutation_of(op);
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<int64_t>(i)) return false;
  if (perm.empty() || op.operand(0).type() != op.result(0).type()) return false;
  r.replace(&op, op.operand(0));
  return true;
}

// transpose(transpose(x, p), q) = transpose(x, p[q]).
bool merge_transposes(Operation& op, Rewriter& r) {
  Operation* inner = made_by(op.operand(0), op.name());
  if (!inner) return false;
  std::vector<int64_t> p = permutation_of(*inner), q = permutation_of(op);
  if (p.empty() || p.size() != q.size()) return false;
  std::vector<int64_t> both;
  for (int64_t i : q) both.push_back(p[static_cast<size_t>(i)]);
  r.modify(&op, [&] {
    op.set_attr("perm", op.attr("perm").kind() == AttrKind::kIntArray
                            ? Attribute::ints(view(Shape(both.begin(), both.end())))
                            : Attribute::i32s(both));
    op.set_operand(0, inner->operand(0));
  });
  return true;
}

// A product with a transposed operand (the last two axes change places) is one with that flag turned.
bool fold_transpose(Operation& op, Rewriter& r) {
  for (auto [operand, flag] : {std::pair{size_t{0}, "transpose_x"}, std::pair{size_t{1}, "transpose_y"}}) {
    Operation* inner = made_by(op.operand(operand), "pd_op.transpose");
    if (!inner) continue;
    const std::vector<int64_t> perm = permutation_of(*inner);
    const size_t rank = perm.size();
    bool swaps = rank >= 2 && perm[rank - 1] == static_cast<int64_t>(rank) - 2;
    for (size_t i = 0; swaps && i + 2 < rank; ++i) swaps = perm[i] == static_cast<int64_t>(i);
    if (!swaps) continue;
    r.modify(&op, [&, k = operand, name = flag] {
      op.set_operand(k, inner->operand(0));
      op.set_attr(name, Attribute::boolean(!op.attr(name).as_bool()));
    });
    return true;
  }
  return false;
}

// reshape(reshape(x, a), b) = reshape(x, b), unless b says "as the input has it" (0).
bool merge_reshapes(Operation& op, Rewriter& r) {
  Operation* inner = made_by(op.operand(0), op.name());
  if (!inner || op.num_operands() < 2) return false;
  Attribute shape = pir::known_value(op.operand(1));
  if (shape.kind() != AttrKind::kIntArray) return false;
  for (Dim d : shape.as_ints())
    if (d == Dim(0)) return false;
  r.modify(&op, [&] { op.set_operand(0, inner->operand(0)); });
  return true;
}

// A branch whose condition is known takes the place of the `if`.
bool known_branch(Operation& op, Rewriter& r) {
  Attribute c = pir::known_value(op.operand(0));
  if (c.kind() != AttrKind::kScalar || c.inner().kind() != AttrKind::kBool) return false;
  pir::Region& taken = op.region(c.inner().as_bool() ? 0 : 1);
  if (taken.size() > 1 || (taken.empty() && op.num_results() > 0)) return false;
  std::vector<Value> values;
  if (!taken.empty()) {
    Block& body = taken.front();
    Operation* yield = body.terminator();
    if (!yield && op.num_results() > 0) return false;
    if (yield) values = yield->operands();
    for (Operation* inner : body.ops())
      if (inner != yield) inner->move_before(&op);
    // What moved may simplify further where it stands now.
  }
  values.resize(op.num_results());
  r.replace(&op, values);
  return true;
}

// Results of an `if` that nobody uses are computed in vain.
bool unused_branch_results(Operation& op, Rewriter& r) {
  std::vector<size_t> kept;
  for (size_t i = 0; i < op.num_results(); ++i)
    if (!op.result(i).use_empty()) kept.push_back(i);
  if (kept.size() == op.num_results()) return false;
  for (size_t k = 0; k < 2; ++k)
    if (op.region(k).size() != 1 || !op.region(k).front().terminator()) return false;
  std::vector<pir::Type> types;
  for (size_t i : kept) types.push_back(op.result(i).type());
  pir::AttrMap attrs = op.attrs();
  attrs.erase("stop_gradient");
  std::vector<Value> condition = {op.operand(0)};
  Operation* fresh = r.create(op.def(), condition, std::move(attrs), types, 2);
  fresh->set_loc(op.loc());
  for (size_t k = 0; k < 2; ++k) {
    fresh->region(k).take_blocks(op.region(k));
    Operation* yield = fresh->region(k).front().terminator();
    std::vector<Value> values;
    for (size_t i : kept) values.push_back(yield->operand(i));
    r.modify(yield, [&] { yield->set_operands(values); });
  }
  std::vector<Value> replacements(op.num_results());
  for (size_t j = 0; j < kept.size(); ++j) {
    Value old = op.result(kept[j]);
    if (old.attr("stop_gradient")) fresh->result(j).set_stop_gradient(old.stop_gradient());
    replacements[kept[j]] = fresh->result(j);
  }
  r.replace(&op, replacements);
  return true;
}

std::shared_ptr<const PatternSet> patterns() {
  static const auto set = [] {
    auto s = std::make_shared<PatternSet>();
    for (const char* name : {"pd_op.cast", "pd_op.reshape", "pd_op.expand", "pd_op.flatten"})
      s->add(fmt::format("same_type({})", name), name, same_type);
    s->add("identity_transpose", "pd_op.transpose", identity_transpose);
    s->add("merge_transposes", "pd_op.transpose", merge_transposes);
    s->add("fold_transpose", "pd_op.matmul", fold_transpose);
    s->add("merge_reshapes", "pd_op.reshape", merge_reshapes);
    s->add("known_branch", "pd_op.if", known_branch, 2);
    s->add("unused_branch_results", "pd_op.if", unused_branch_results);
    return std::shared_ptr<const PatternSet>(s);
  }();
  return set;
}

}  // namespace

size_t canonicalise(Operation& root) { return pir::apply_greedily(root, *patterns()).rewrites; }

}  // namespace paddle::passes
