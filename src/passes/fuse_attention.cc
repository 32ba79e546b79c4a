// softmax(q kᵀ * scale, masked) v, however it is written, becomes the one operator `attention`, whose kernel never
// holds all scores. The weights must not be used elsewhere.
#include <cmath>
#include <limits>

#include "passes/match.h"
#include "passes/passes.h"
#include "pir/builder.h"
#include "pir/rewrite/drr.h"
#include "tensor/float16.h"

namespace paddle::passes {

using pir::Attribute;
using pir::AttrKind;
using pir::Operation;
using pir::Value;

namespace {

// As a tensor of that dtype holds it: -1e9 is -inf in float16. Null for dtypes of other kinds.
std::optional<double> held(double x, DType t) {
  if (t == DType::kFloat64) return x;
  const auto narrow = static_cast<float>(x);
  if (t == DType::kFloat32) return narrow;
  if (t == DType::kFloat16) return static_cast<float>(float16::from(narrow));
  if (t == DType::kBFloat16) return static_cast<float>(bfloat16::from(narrow));
  if (is_integer(t) && x == std::trunc(x)) return x;
  return {};
}

std::optional<double> number_in(Value v);

// A number that fills a tensor, whatever its shape.
std::optional<double> number_of(Value v) {
  const std::optional<double> n = number_in(v);
  return n ? held(*n, v.dtype()) : n;
}

std::optional<double> number_in(Value v) {
  Operation* maker = v && v.is_result() ? v.defining_op() : nullptr;
  if (maker && (maker->is("pd_op.cast") || maker->is("pd_op.expand") || maker->is("pd_op.reshape")))
    return number_of(maker->operand(0));
  if (!maker || !maker->is("pd_op.full")) return {};
  Attribute a = maker->attr("value");
  if (a.kind() == AttrKind::kScalar) a = a.inner();
  if (a.kind() == AttrKind::kInt32 || a.kind() == AttrKind::kInt64) return static_cast<double>(a.as_int());
  if (a.kind() == AttrKind::kFloat || a.kind() == AttrKind::kDouble) return a.as_double();
  return {};
}

// The operation that makes v, if nothing but the next step reads v.
Operation* sole_maker(Value v) { return v && v.is_result() && v.has_one_use() ? v.defining_op() : nullptr; }

// From the weights up to the product of queries and keys.
class Chain {
 public:
  Value query, key;
  bool query_turned = false, key_turned = false;  // the product's flags
  double scale = 1, fill = -std::numeric_limits<double>::infinity();
  struct Mask {
    Value v;
    bool inverted;  // a condition that holds where the score is replaced
  };
  std::vector<Mask> masks;

  bool follow(Value weights, bool training) {
    Operation* op = through_casts(weights);
    if (!op || !op->is("pd_op.softmax")) return false;
    const int64_t rank = op->result().type().rank(), axis = op->attr("axis").as_int();
    if (axis != -1 && axis != rank - 1) return false;
    shape_ = op->result().shape();
    op = through_casts(op->operand(0));
    while (op && (take_mask(*op, training) || take_scale(*op))) op = through_casts(next_);
    return op && take_product(*op);
  }

 private:
  // What another dtype, or the same shape said again, is made from.
  static Operation* through_casts(Value v) {
    Operation* op = sole_maker(v);
    while (op && (op->is("pd_op.cast") || (op->is("pd_op.reshape") && op->result().type() == op->operand(0).type()))) {
      if (!is_float(op->operand(0).dtype())) return nullptr;
      op = sole_maker(op->operand(0));
    }
    return op;
  }

  bool take_mask(Operation& op, bool training) {
    if (op.num_results() != 1 || !op.result().type().has_shape() || op.result().shape() != shape_) return false;
    if (scale != 1) return false;  // a mask that was scaled, too
    if (op.is("pd_op.add")) {
      for (size_t k : {size_t{0}, size_t{1}}) {
        const Value mask = op.operand(1 - k);
        if (op.operand(k).shape() != shape_ || !sole_maker(op.operand(k)) || !leads_to_product(op.operand(k))) continue;
        if (!masks.empty() && masks[0].v.dtype() == DType::kBool) return false;
        if (training && !mask.stop_gradient()) return false;
        masks.push_back({mask, false});
        next_ = op.operand(k);
        return true;
      }
      return false;
    }
    Value condition, scores;
    std::optional<double> number;
    bool inverted = false;
    if (op.is("pd_op.where")) {
      condition = op.operand(0);
      inverted = static_cast<bool>(number = number_of(op.operand(1)));
      if (!inverted) number = number_of(op.operand(2));
      scores = op.operand(inverted ? 2 : 1);
    } else if (op.is("pd_op.masked_fill")) {
      condition = op.operand(1);
      scores = op.operand(0);
      number = number_of(op.operand(2));
      inverted = true;
    }
    if (number) number = held(*number, scores.dtype());
    if (!number || scores.shape() != shape_) return false;
    if (!masks.empty() && (masks[0].v.dtype() != DType::kBool || fill != *number)) return false;
    fill = *number;
    masks.push_back({condition, inverted});
    next_ = scores;
    return true;
  }

  // Of a sum's operands, the one that comes from the product is the scores.
  static bool leads_to_product(Value v) {
    for (int depth = 0; depth < 8; ++depth) {
      Operation* op = sole_maker(v);
      if (!op) return false;
      if (op->is("pd_op.matmul")) return true;
      if (!op->has(kElementwise | kBroadcast) && !op->is("pd_op.reshape")) return false;
      v = op->is("pd_op.where") ? op->operand(number_of(op->operand(1)) ? 2 : 1) : op->operand(0);
    }
    return false;
  }

  bool take_scale(Operation& op) {
    std::optional<double> by;
    size_t scores = 0;
    if (op.is("pd_op.scale")) {
      const Attribute bias = op.attr("bias");
      by = number_of(op.operand(1));
      if (bias && (bias.kind() == AttrKind::kScalar ? bias.inner() : bias).as_double() != 0) return false;
    } else if (op.is("pd_op.multiply")) {
      for (size_t k : {size_t{0}, size_t{1}})
        if (std::optional<double> n = number_of(op.operand(k)); n && !by) by = n, scores = 1 - k;
    } else if (op.is("pd_op.divide")) {
      by = number_of(op.operand(1));
      if (by) by = 1 / *by;
    }
    if (!by || op.operand(scores).shape() != shape_) return false;
    scale *= *by;
    next_ = op.operand(scores);
    return true;
  }

  bool take_product(Operation& op) {
    if (!op.is("pd_op.matmul") || op.result().shape() != shape_) return false;
    query = op.operand("x");
    key = op.operand("y");
    query_turned = op.attr("transpose_x").as_bool();
    key_turned = !op.attr("transpose_y").as_bool();
    return true;
  }

  Shape shape_;
  Value next_;
};

// Makes what `attention` reads: [batch, length, heads, size].
class Writer {
 public:
  explicit Writer(Operation& product) {
    b_.before(&product);
    b_.set_loc(pir::Location::derived("fuse_attention", product.loc()));
  }

  // From [batch, heads, length, size] or [batch, length, size]; `turned`: the last two change places first.
  Value lengths_second(Value v, bool turned) {
    if (v.shape().size() == 4) return transposed(v, turned ? std::vector<int64_t>{0, 3, 1, 2} : heads_);
    if (turned) v = transposed(v, {0, 2, 1});
    return like(b_.value("pd_op.unsqueeze", {v, b_.full_int_array(std::vector<int64_t>{2})}), v);
  }

  Value back(Value v, size_t rank) {
    if (rank == 4) return transposed(v, heads_);
    return like(b_.value("pd_op.squeeze", {v, b_.full_int_array(std::vector<int64_t>{2})}), v);
  }

  // All masks as one; null for none.
  Value mask(const std::vector<Chain::Mask>& masks, size_t rank) {
    Value all;
    for (const Chain::Mask& m : masks) {
      Value one = m.inverted ? b_.value("pd_op.logical_not", {m.v}) : m.v;
      if (rank == 3 && one.shape().size() == 3)
        one = b_.value("pd_op.unsqueeze", {one, b_.full_int_array(std::vector<int64_t>{1})});
      if (!all)
        all = one;
      else
        all = b_.value(one.dtype() == DType::kBool ? "pd_op.logical_and" : "pd_op.add", {all, one});
      all.set_stop_gradient(true);
    }
    return all;
  }

  Value attention(Value q, Value k, Value v, Value mask, const Chain& c) {
    Operation* op = b_.create(
        "pd_op.attention", {q, k, v, mask},
        {{"scale", Attribute::f32(static_cast<float>(c.scale))}, {"fill", Attribute::f32(static_cast<float>(c.fill))}});
    op->result(1).set_stop_gradient(true);
    return op->result(0);
  }

 private:
  Value transposed(Value v, const std::vector<int64_t>& perm) {
    return like(b_.value("pd_op.transpose", {v}, {{"perm", Attribute::i32s(perm)}}), v);
  }
  static Value like(Value made, Value from) {
    made.set_stop_gradient(from.stop_gradient());
    return made;
  }
  const std::vector<int64_t> heads_ = {0, 2, 1, 3};
  pir::Builder b_;
};

bool fits(const Chain& c, Value value) {
  const Value q = c.query, k = c.key;
  const DType t = q.dtype();
  if (t != DType::kFloat32 && t != DType::kBFloat16 && t != DType::kFloat16) return false;
  if (k.dtype() != t || value.dtype() != t) return false;
  const size_t rank = q.shape().size();
  if ((rank != 3 && rank != 4) || k.shape().size() != rank || value.shape().size() != rank) return false;
  if (k.shape()[0] != q.shape()[0] || value.shape()[0] != q.shape()[0]) return false;
  // One head of keys may serve all.
  return rank == 3 || (k.shape()[1] == value.shape()[1] && (k.shape()[1] == q.shape()[1] || k.shape()[1] == Dim(1)));
}

bool fuse(Operation& product, bool training) {
  Chain c;
  if (product.attr("transpose_x").as_bool() || !c.follow(product.operand("x"), training)) return false;
  const Value value = product.operand("y"), old = product.result();
  if (!fits(c, value) || old.dtype() != value.dtype()) return false;
  const size_t rank = value.shape().size();
  Writer w(product);
  const Value q = w.lengths_second(c.query, c.query_turned), k = w.lengths_second(c.key, c.key_turned);
  const Value v = w.lengths_second(value, product.attr("transpose_y").as_bool());
  Value out = w.attention(q, k, v, w.mask(c.masks, rank), c);
  out.set_stop_gradient(old.stop_gradient());
  out = w.back(out, rank);
  if (out.type() != old.type()) out.set_type(old.type());  // other names for the same sizes
  old.replace_all_uses_with(out);
  return true;
}

// exp(x - max(x)) / sum(exp(x - max(x))) along the last axis is softmax.
std::unique_ptr<pir::Pattern> softmax_from_parts() {
  pir::Drr drr("softmax_from_parts");
  const pir::DrrAttr kept = pir::Drr::literal("keepdim", Attribute::boolean(true));
  const size_t most = drr.source("pd_op.max", {"x", "_"}, {"most"}, {kept});
  drr.source("pd_op.subtract", {"x", "most"}, {"below"});
  drr.source("pd_op.exp", {"below"}, {"e"});
  const size_t total = drr.source("pd_op.sum", {"e", "_"}, {"total"}, {kept});
  drr.source("pd_op.divide", {"e", "total"}, {"y"});
  drr.where([=](const pir::DrrMatch& m) {
    const Value x = m.value("x"), y = m.value("y");
    const int64_t last = static_cast<int64_t>(x.shape().size()) - 1;
    for (size_t part : {most, total}) {
      const auto axes = known_ints(*m.op(part), "axis");
      if (!axes || axes->size() != 1 || ((*axes)[0] != -1 && (*axes)[0] != last)) return false;
    }
    return x.type() == y.type() && m.value("total").dtype() == x.dtype();
  });
  drr.result("pd_op.softmax", {"x"}, {"y"}, {pir::Drr::literal("axis", Attribute::i32(-1))});
  return drr.build();
}

// A choice between scores and a tensor of their shape filled with one number reads the scores once: the number
// broadcasts.
bool choose_number(Operation& op, pir::Rewriter& r) {
  for (size_t k : {size_t{1}, size_t{2}}) {
    Operation* like = made_by(op.operand(k), "pd_op.full_like");
    if (!like || op.operand(3 - k).type() != op.result().type()) continue;
    const std::optional<double> number = number_of(like->operand("value"));
    if (!number || like->result().dtype() != op.result().dtype()) continue;
    const Value one = r.full({}, *number, op.result().dtype());
    r.modify(&op, [&] { op.set_operand(k, one); });
    if (like->results_unused()) r.erase(like);
    return true;
  }
  return false;
}

// What repeats each head of a tensor [batch, length, heads, size] some times in a row: the tensor, and how often. Looks
// through transposes, which is where the axis of the heads is followed.
struct Repeated {
  Value of;
  std::vector<int64_t> perm;  // the transposes after the repetition, as one
  int64_t axis = 2;           // of the heads, in `of`
  Dim times = 1;
};

std::optional<Repeated> repeated_heads(Value v) {
  Repeated r{v, {0, 1, 2, 3}};
  while (Operation* turn = made_by(r.of, "pd_op.transpose")) {
    const auto perm = known_ints(*turn, "perm");
    if (!perm || perm->size() != 4) return {};
    for (int64_t& p : r.perm) p = (*perm)[static_cast<size_t>(p)];
    r.of = turn->operand(0);
  }
  r.axis = r.perm[2];
  if (Operation* op = made_by(r.of, "pd_op.repeat_interleave")) {
    const int64_t axis = op->attr("axis").as_int();
    if ((axis < 0 ? axis + 4 : axis) != r.axis) return {};
    r.times = Dim(op->attr("repeats").as_int());
    r.of = op->operand(0);
    return r;
  }
  // reshape(expand(x with an axis of size 1 after the heads))
  Operation* join = made_by(r.of, "pd_op.reshape");
  Operation* widen = join ? made_by(join->operand(0), "pd_op.expand") : nullptr;
  Operation* apart = widen ? made_by(widen->operand(0), "pd_op.unsqueeze") : nullptr;
  if (!apart) return {};
  const Shape &from = apart->operand(0).shape(), &one = apart->result().shape(), &wide = widen->result().shape(),
              &to = join->result().shape();
  const auto h = static_cast<size_t>(r.axis);
  if (from.size() != 4 || one.size() != 5 || wide.size() != 5 || to.size() != 4 || one[h + 1] != Dim(1)) return {};
  for (size_t i = 0; i < 5; ++i)
    if (i != h + 1 && (one[i] != wide[i] || one[i] != from[i < h + 1 ? i : i - 1])) return {};
  for (size_t i = 0; i < 4; ++i)
    if (to[i] != (i == h ? from[h] * wide[h + 1] : from[i])) return {};
  r.times = wide[h + 1];
  r.of = apart->operand(0);
  return r;
}

// Heads that serve several queries needn't be repeated for it.
bool share_heads(Operation& op) {
  const auto key = repeated_heads(op.operand("key")), value = repeated_heads(op.operand("value"));
  if (!key || !value || key->times != value->times) return false;
  pir::Builder b;
  b.before(&op);
  b.set_loc(op.loc());
  for (auto [name, r] : {std::pair{"key", &*key}, std::pair{"value", &*value}}) {
    Value v = b.value("pd_op.transpose", {r->of}, {{"perm", Attribute::i32s(r->perm)}});
    v.set_stop_gradient(r->of.stop_gradient());
    op.set_operand(static_cast<size_t>(op.def().operand_index(name)), v);
  }
  return true;
}

}  // namespace

size_t fuse_attention(Operation& root, bool training) {
  pir::PatternSet parts;
  parts.add(softmax_from_parts());
  parts.add("choose_number", "pd_op.where", choose_number);
  pir::apply_greedily(root, parts, {.fold = false, .remove_dead = false});
  std::vector<Operation*> products;
  root.walk([&](Operation& op) {
    if (op.is("pd_op.matmul")) products.push_back(&op);
  });
  size_t n = 0;
  for (Operation* op : products) n += fuse(*op, training);
  if (n == 0) return 0;
  root.walk([](Operation& op) {
    if (op.is("pd_op.attention")) share_heads(op);
  });
  remove_dead_code(root);
  return n;
}

}  // namespace paddle::passes
