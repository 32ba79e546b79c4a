// Rules of ops/attention.yaml, in the order of the records.
#include "phi/rules_attention.h"

#include "api/ops.h"
#include "api/ops_attention.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"

namespace paddle::rules {
namespace {

constexpr DType kSame = DType::kUndefined;

void check_shapes(std::string_view op, const Tensor& query, const Tensor& key, const Tensor& value,
                  const Tensor& mask) {
  infer::check_rank(op, "query", query, 4, 4);
  infer::check_rank(op, "key", key, 4, 4);
  infer::check_rank(op, "value", value, 4, 4);
  infer::check_size(op, "key's batch (query's)", query.dim(0), key.dim(0));
  infer::check_size(op, "value's batch (query's)", query.dim(0), value.dim(0));
  infer::check_size(op, "value's length (key's)", key.dim(1), value.dim(1));
  infer::check_size(op, "value's heads (key's)", key.dim(2), value.dim(2));
  infer::check_size(op, "the last axis of key (query's)", query.dim(3), key.dim(3));
  check(paddle::equal(query.dim(2), key.dim(2)) || paddle::equal(paddle::mod(query.dim(2), key.dim(2)), 0),
        ErrorKind::kValue, "[{}] expected query heads in whole groups for {} key heads, got {}", op, key.dim(2).str(),
        query.dim(2).str());
  if (!mask.defined()) return;
  infer::check_rank(op, "mask", mask, 0, 4);
  const Dim full[] = {query.dim(0), query.dim(2), query.dim(1), key.dim(1)};
  for (int64_t i = 0; i < mask.rank(); ++i) {
    const Dim expected = full[4 - mask.rank() + i], got = mask.dim(i);
    if (!paddle::equal(got, 1)) infer::check_size(op, "the mask (1, or the scores')", expected, got);
  }
}

// [batch, length, heads, size] and [batch, heads, length, size] are one another's transposes.
Tensor heads_first(const Tensor& t) { return ops::transpose(t, {0, 2, 1, 3}); }

// Queries, keys and values with heads first, each key head repeated for its queries; scores as the softmax sees them.
struct Parts {
  Tensor query, key, value, scores;
  Dim groups;  // query heads for each key head
};

Tensor repeated(const Tensor& t, Dim groups) {
  if (paddle::equal(groups, 1)) return t;
  const Shape& s = t.shape();  // [batch, heads, length, size]
  Tensor wide = ops::expand(ops::unsqueeze(t, {2}), Ints(Shape{s[0], s[1], groups, s[2], s[3]}));
  return compose::reshape_to(wide, Shape{s[0], s[1] * groups, s[2], s[3]});
}

// True where a key comes after the query: the last query sees all keys.
Tensor ahead(Dim queries, Dim keys) {
  auto count = [](Dim n) { return ops::arange(Scalar(int64_t{0}), Scalar(n), Scalar(int64_t{1}), DType::kInt64); };
  Tensor last_seen = ops::add(count(queries), ops::full({}, Scalar(keys - queries), DType::kInt64));
  return ops::greater_than(ops::unsqueeze(count(keys), {0}), ops::unsqueeze(last_seen, {1}));
}

template <class A>
Parts parts_of(const A& a) {
  Parts p;
  p.groups = paddle::floor_div(a.query.dim(2), a.key.dim(2));
  p.query = heads_first(a.query);
  p.key = repeated(heads_first(a.key), p.groups);
  p.value = repeated(heads_first(a.value), p.groups);
  p.scores = ops::matmul(ops::scale(p.query, Scalar(a.scale)), p.key, false, true);
  const DType t = p.scores.dtype();
  auto number = [&](double x) { return ops::full({}, Scalar(x), t, p.scores.place()); };
  if (a.causal)
    p.scores =
        ops::where(ahead(a.query.dim(1), a.key.dim(1)), number(-std::numeric_limits<double>::infinity()), p.scores);
  if (a.mask.defined())
    p.scores = a.mask.dtype() == DType::kBool ? ops::where(a.mask, p.scores, number(a.fill))
                                              : p.scores + compose::cast_to(a.mask, t);
  return p;
}

// The gradient of the scores, [batch, heads, queries, keys], and the weights.
struct ScoreGrad {
  Tensor weights, grad;
};
ScoreGrad score_grad(const Parts& p, const Tensor& g) {
  Tensor weights = ops::softmax(p.scores, -1);
  Tensor through = ops::matmul(g, p.value, false, true) * weights;
  return {weights, through - weights * ops::sum(through, {-1}, kSame, true)};
}

// The gradient of what `repeated` repeats: summed over the queries of a key head; with the length first again.
Tensor gathered(const Tensor& g, Dim groups) {
  if (paddle::equal(groups, 1)) return heads_first(g);
  const Shape& s = g.shape();
  Tensor apart = compose::reshape_to(g, Shape{s[0], paddle::floor_div(s[1], groups), groups, s[2], s[3]});
  return heads_first(ops::sum(apart, {2}, kSame, false));
}

}  // namespace

void attention::shape(const Args& a, TensorMeta& out, TensorMeta& lse) {
  check_shapes("attention", a.query, a.key, a.value, a.mask);
  out.shape = a.query.shape();
  out.shape[3] = a.value.dim(3);
  lse.shape = Shape{a.query.dim(0), a.query.dim(2), a.query.dim(1)};
}

ops::attention_out attention::decompose(const Args& a) {
  Parts p = parts_of(a);
  Tensor out = ops::matmul(ops::softmax(p.scores, -1), p.value);
  return {heads_first(out),
          compose::cast_to(ops::logsumexp(compose::cast_to(p.scores, DType::kFloat32), {-1}), DType::kFloat32)};
}

void attention::vjp(Vjp& v) {
  if (!v.out_grad.defined()) return;
  if (v.need_query || v.need_key || v.need_value) {
    auto [query_grad, key_grad, value_grad] =
        ops::attention_grad(v.query, v.key, v.value, v.mask, v.out, v.lse, v.out_grad, v.scale, v.causal, v.fill);
    if (v.need_query) v.query_grad = query_grad;
    if (v.need_key) v.key_grad = key_grad;
    if (v.need_value) v.value_grad = value_grad;
  }
  if (v.need_mask && v.mask.dtype() != DType::kBool)
    v.mask_grad = compose::unbroadcast(score_grad(parts_of(v), heads_first(v.out_grad)).grad, v.mask);
}

void attention_grad::shape(const Args& a, TensorMeta& query_grad, TensorMeta& key_grad, TensorMeta& value_grad) {
  check_shapes("attention_grad", a.query, a.key, a.value, a.mask);
  query_grad.shape = a.query.shape();
  key_grad.shape = a.key.shape();
  value_grad.shape = a.value.shape();
}

ops::attention_grad_out attention_grad::decompose(const Args& a) {
  Parts p = parts_of(a);
  Tensor g = heads_first(a.out_grad);
  ScoreGrad s = score_grad(p, g);
  // A masked score is a constant: where the condition chose `fill` nothing comes back, and the weight there is not zero
  // in a row that sees nothing.
  Tensor scores = s.grad;
  const DType t = scores.dtype();
  if (a.mask.defined() && a.mask.dtype() == DType::kBool)
    scores = ops::where(a.mask, scores, ops::full({}, Scalar(0.0), t, scores.place()));
  Tensor query_grad = ops::scale(ops::matmul(scores, p.key), Scalar(a.scale));
  Tensor key_grad = ops::scale(ops::matmul(scores, p.query, true, false), Scalar(a.scale));
  Tensor value_grad = ops::matmul(s.weights, g, true, false);
  return {heads_first(query_grad), gathered(key_grad, p.groups), gathered(value_grad, p.groups)};
}

}  // namespace paddle::rules
