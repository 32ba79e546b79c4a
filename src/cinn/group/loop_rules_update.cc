// Optimisers' updates, parameter by parameter.
#include "cinn/group/loops.h"
#include "cinn/group/nest.h"

namespace paddle::cinn {
namespace {

using pir::Operation;
using pir::Value;
using scalar::Fn;

// A parameter on its way: computed in f32 (f64 for f64), from its master copy where it has one.
struct Step {
  Nest& e;
  const Operation& op;
  size_t i;
  DType work = DType::kFloat32;
  int weight = -1, grad = -1;
  bool has_master = false;

  Step(Nest& nest, const Operation& o, size_t index) : e(nest), op(o), i(index) {
    int p = item("params");
    if (e.dtype(p) == DType::kFloat64) work = DType::kFloat64;
    int master = item("masters");
    has_master = master >= 0;
    weight = e.g.cast(has_master ? master : p, work);
    grad = e.g.cast(item("grads"), work);
  }
  // Item i of a list operand; -1 where the list or the item is absent.
  int item(std::string_view name) {
    Value list = op.def().operand_index(name) >= 0 ? op.operand(name) : Value();
    if (!list || i >= list.type().elements().size() || !list.type().elements()[i]) return -1;
    Operation* combine = list.is_result() ? list.defining_op() : nullptr;
    if (!combine || !combine->is("builtin.combine")) no_nest(op, "a list that another operator makes");
    return e.t.node(combine->operand(i));
  }
  int rate(std::string_view name, double absent) { return e.t.run_time_number(op, name, work, absent); }
  int mul(int a, int b) { return e.mul(a, b, work); }
  int add(int a, int b) { return e.add(a, b, work); }
  int sub(int a, int b) { return e.sub(a, b, work); }
  int div(int a, int b) { return e.div(a, b, work); }
  int sqrt(int a) { return e.op(Fn::sqrt, {a}, work); }
  int one() { return e.g.constant(work, 1); }
};

// What a list result holds, one node per item; those that nobody computes stay as they came.
class Results {
 public:
  Results(Nest& e, const Operation& op) : e_(e), op_(op), lists_(op.num_results()) {}
  void put(std::string_view name, size_t i, int node, DType dtype) {
    size_t r = 0;
    while (op_.def().results.at(r).name != name) ++r;
    auto& list = lists_[r];
    if (list.size() <= i) list.resize(i + 1, -1);
    list[i] = e_.g.cast(node, dtype);
  }
  void finish() {
    for (size_t r = 0; r < lists_.size(); ++r)
      if (op_.result(r).type()) e_.t.set_list(op_.result(r), std::move(lists_[r]));
  }

 private:
  Nest& e_;
  const Operation& op_;
  std::vector<std::vector<int>> lists_;
};

size_t count(const Operation& op) { return op.operand("params").type().elements().size(); }

void put_weight(Results& results, Step& s, int weight) {
  results.put("params_out", s.i, weight, s.e.dtype(s.item("params")));
  if (s.has_master) results.put("masters_out", s.i, weight, s.work);
}

void sgd(Translator& t, const Operation& op) {
  Nest e(t);
  Results results(e, op);
  for (size_t i = 0; i < count(op); ++i) {
    Step s(e, op, i);
    int g = s.add(s.grad, s.mul(s.rate("weight_decay", 0), s.weight));
    put_weight(results, s, s.sub(s.weight, s.mul(s.rate("lr", 0), g)));
  }
  results.finish();
}

void momentum(Translator& t, const Operation& op) {
  Nest e(t);
  Results results(e, op);
  for (size_t i = 0; i < count(op); ++i) {
    Step s(e, op, i);
    int mu = s.rate("mu", 0);
    int d = s.add(s.mul(s.rate("rescale", 1), s.grad), s.mul(s.rate("weight_decay", 0), s.weight));
    int v = s.add(s.mul(mu, e.g.cast(s.item("velocities"), s.work)), d);
    int step = flag(op, "use_nesterov") ? s.add(d, s.mul(mu, v)) : v;
    results.put("velocities_out", i, v, s.work);
    put_weight(results, s, s.sub(s.weight, s.mul(s.rate("lr", 0), step)));
  }
  results.finish();
}

void adam(Translator& t, const Operation& op) {
  Nest e(t);
  Results results(e, op);
  for (size_t i = 0; i < count(op); ++i) {
    Step s(e, op, i);
    int b1 = s.rate("beta1", 0.9), b2 = s.rate("beta2", 0.999);
    int p1 = e.g.reshape(s.item("beta1_pows"), {}), p2 = e.g.reshape(s.item("beta2_pows"), {});
    const DType power = e.dtype(p1);
    int m = s.add(s.mul(b1, s.item("moment1s")), s.mul(s.sub(s.one(), b1), s.grad));
    int v = s.add(s.mul(b2, s.item("moment2s")), s.mul(s.mul(s.sub(s.one(), b2), s.grad), s.grad));
    results.put("moment1s_out", i, m, s.work);
    results.put("moment2s_out", i, v, s.work);
    int most = v;
    if (flag(op, "amsgrad")) {
      most = e.op(Fn::max, {s.item("moment2_maxs"), v}, s.work);
      results.put("moment2_maxs_out", i, most, s.work);
    }
    // Both moments' corrections for their start at zero, folded into the rate; in f64, since 1 - 0.999 loses digits.
    const DType wide = DType::kFloat64;
    auto number = [&](std::string_view name, double absent) { return e.t.run_time_number(op, name, wide, absent); };
    auto rest = [&](int x) { return e.sub(e.g.constant(wide, 1), x, wide); };
    int correct = e.op(Fn::sqrt, {rest(e.g.cast(p2, wide))}, wide);
    int rate = e.g.cast(e.div(e.mul(number("lr", 0), correct, wide), rest(e.g.cast(p1, wide)), wide), s.work);
    int keep = e.g.cast(rest(e.mul(number("lr", 0), number("weight_decay", 0), wide)), s.work);
    int epsilon = e.g.cast(e.mul(number("epsilon", 1e-8), correct, wide), s.work);
    int step = s.div(m, s.add(s.sqrt(most), epsilon));
    put_weight(results, s, s.sub(s.mul(s.weight, keep), s.mul(rate, step)));
    auto advanced = [&](std::string_view from, std::string_view to, int now, int by) {
      int next = e.mul(now, e.g.cast(by, power), power);
      results.put(to, i, e.g.reshape(next, e.shape(s.item(from))), power);
    };
    advanced("beta1_pows", "beta1_pows_out", p1, b1);
    advanced("beta2_pows", "beta2_pows_out", p2, b2);
  }
  results.finish();
}

}  // namespace

RuleTable update_rules() {
  static constexpr NamedRule rules[] = {{"sgd", sgd}, {"momentum", momentum}, {"adam", adam}};
  return rules;
}

}  // namespace paddle::cinn
