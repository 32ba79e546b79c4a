// Short names for what loop rules are made of.
#pragma once
#include "cinn/group/translator.h"

namespace paddle::cinn {

struct Nest {
  explicit Nest(Translator& translator) : t(translator), g(translator.group()) {}
  Translator& t;
  Group& g;

  static constexpr DType kInt = DType::kInt64;

  int op(scalar::Fn fn, std::vector<int> args, DType dtype) { return g.pointwise(fn, std::move(args), dtype, dtype); }
  int add(int a, int b, DType t = kInt) { return op(scalar::Fn::add, {a, b}, t); }
  int sub(int a, int b, DType t = kInt) { return op(scalar::Fn::sub, {a, b}, t); }
  int mul(int a, int b, DType t = kInt) { return op(scalar::Fn::mul, {a, b}, t); }
  int div(int a, int b, DType t = kInt) { return op(scalar::Fn::div, {a, b}, t); }
  int test(scalar::Fn fn, int a, int b, DType compute = kInt) { return g.pointwise(fn, {a, b}, DType::kBool, compute); }
  int both(int a, int b) { return g.pointwise(scalar::Fn::logical_and, {a, b}, DType::kBool, DType::kInt32); }
  int either(int a, int b) { return g.pointwise(scalar::Fn::logical_or, {a, b}, DType::kBool, DType::kInt32); }
  int is_nan(int a, DType compute) { return g.pointwise(scalar::Fn::isnan, {a}, DType::kBool, compute); }
  int where(int condition, int a, int b, DType dtype) {
    return g.pointwise(scalar::Fn::where, {condition, a, b}, dtype, compute_type(dtype));
  }
  int number(int64_t v) { return g.constant_int(kInt, v); }
  int zero(DType dtype) { return is_float(dtype) ? g.constant(dtype, 0) : g.constant_int(dtype, 0); }
  int count(const Index& n) { return g.size(kInt, n); }
  int iota(const Shape& shape, size_t axis) { return g.iota(kInt, shape, static_cast<int>(axis)); }
  int sum(int x, std::vector<int> dims, DType dtype) {
    return g.reduce(ReduceKind::kSum, x, std::move(dims), false, dtype);
  }
  const Shape& shape(int node) const { return g.shape(node); }
  DType dtype(int node) const { return g.nodes[node].dtype; }

  // A new dimension of size 1 before dimension `at`.
  int unsqueeze(int x, size_t at) {
    Shape s = shape(x);
    s.insert(s.begin() + static_cast<std::ptrdiff_t>(at), Index(1));
    return g.reshape(x, s);
  }
  // Dimension `from` becomes dimension `to`, the others keep their order.
  int move(int x, size_t from, size_t to) {
    std::vector<int> order;
    for (size_t i = 0; i < shape(x).size(); ++i)
      if (i != from) order.push_back(static_cast<int>(i));
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), static_cast<int>(from));
    return from == to ? x : g.transpose(x, order);
  }
  int flatten(int x) { return g.reshape(x, {element_count(shape(x))}); }
  // Indices counted from the back brought into [0, extent).
  int wrapped(int index, const Index& extent) {
    int i = g.cast(index, kInt);
    return where(test(scalar::Fn::lt, i, number(0)), add(i, count(extent)), i, kInt);
  }
};

bool flag(const pir::Operation& op, std::string_view name);  // a bool attribute; absent: false
int64_t whole(const pir::Operation& op, std::string_view name, int64_t absent);
double real(const pir::Operation& op, std::string_view name, double absent);
std::string word(const pir::Operation& op, std::string_view name, std::string_view absent);
[[noreturn]] void no_nest(const pir::Operation& op, std::string_view why);

}  // namespace paddle::cinn
