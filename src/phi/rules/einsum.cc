// Rules of ops/linalg.yaml: einsum, composed of diagonals, sums, transpositions and matrix products.
#include <algorithm>
#include <cctype>
#include <map>

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"
#include "phi/rules_linalg.h"

namespace paddle::rules {
namespace {

// A label: a letter, or -1 - i for axis i of those that "..." stands for.
using Label = int;
using Labels = std::vector<Label>;

bool has(const Labels& v, Label l) { return std::find(v.begin(), v.end(), l) != v.end(); }
size_t place_of(const Labels& v, Label l) { return static_cast<size_t>(std::find(v.begin(), v.end(), l) - v.begin()); }

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
};

[[noreturn]] void wrong(std::string_view equation, const std::string& why) {
  fail(ErrorKind::kValue, "[einsum] equation \"{}\": {}", equation, why);
}

// "ab...c": its letters before and after the dots.
struct Term {
  std::string before, after;
  bool dots = false;
  size_t letters() const { return before.size() + after.size(); }
};

Term term_of(std::string_view equation, std::string_view text) {
  Term t;
  for (size_t i = 0; i < text.size(); ++i) {
    if (std::isalpha(static_cast<unsigned char>(text[i]))) {
      (t.dots ? t.after : t.before) += text[i];
    } else if (text.substr(i, 3) == "..." && !t.dots) {
      t.dots = true;
      i += 2;
    } else {
      wrong(equation, "expected letters, '...', ',' and '->'");
    }
  }
  return t;
}

std::vector<Term> terms_of(std::string_view equation, std::string_view text) {
  std::vector<Term> found;
  while (true) {
    const size_t comma = text.find(',');
    found.push_back(term_of(equation, text.substr(0, comma)));
    if (comma == std::string_view::npos) return found;
    text = text.substr(comma + 1);
  }
}

// "..." takes the axes that are left, counted from the back.
Labels labels_of(const Term& t, size_t dots, size_t own) {
  Labels l(t.before.begin(), t.before.end());
  for (size_t i = dots - own; i < dots; ++i) l.push_back(-1 - static_cast<Label>(i));
  l.insert(l.end(), t.after.begin(), t.after.end());
  return l;
}

Labels implied_output(const std::vector<Labels>& inputs, size_t dots) {
  Labels all, once;
  for (const Labels& l : inputs) all.insert(all.end(), l.begin(), l.end());
  for (Label l : all)
    if (l > 0 && std::count(all.begin(), all.end(), l) == 1) once.push_back(l);
  std::sort(once.begin(), once.end());
  Labels out;
  for (size_t i = 0; i < dots; ++i) out.push_back(-1 - static_cast<Label>(i));
  out.insert(out.end(), once.begin(), once.end());
  return out;
}

Equation parse(const einsum::Args& a) {
  std::string text;
  for (char c : a.equation)
    if (c != ' ') text += c;
  const size_t arrow = text.find("->");
  const auto terms = terms_of(a.equation, std::string_view(text).substr(0, arrow));
  if (terms.size() != a.x.size()) wrong(a.equation, fmt::format("names {} operands, got {}", terms.size(), a.x.size()));
  Equation e;
  size_t dots = 0;
  auto own = [&](size_t i) { return static_cast<size_t>(a.x[i].rank()) - terms[i].letters(); };
  for (size_t i = 0; i < terms.size(); ++i) {
    const auto rank = static_cast<size_t>(a.x[i].rank());
    if (terms[i].letters() > rank || (!terms[i].dots && terms[i].letters() != rank))
      wrong(a.equation, fmt::format("operand {} has {} labels and {} axes", i, terms[i].letters(), rank));
    if (terms[i].dots) dots = std::max(dots, own(i));
  }
  for (size_t i = 0; i < terms.size(); ++i) e.inputs.push_back(labels_of(terms[i], dots, terms[i].dots ? own(i) : 0));
  if (arrow == std::string::npos) {
    e.output = implied_output(e.inputs, dots);
    return e;
  }
  const Term out = term_of(a.equation, std::string_view(text).substr(arrow + 2));
  e.output = labels_of(out, dots, out.dots ? dots : 0);
  for (Label l : e.output) {
    const bool known = std::any_of(e.inputs.begin(), e.inputs.end(), [&](const Labels& in) { return has(in, l); });
    if (!known) wrong(a.equation, fmt::format("the result's label '{}' is in no operand", static_cast<char>(l)));
    if (std::count(e.output.begin(), e.output.end(), l) > 1)
      wrong(a.equation, fmt::format("the result's label '{}' occurs twice", static_cast<char>(l)));
  }
  return e;
}

bool is_one(Dim d) { return d.is_const() && d.value() == 1; }

// The size behind each label; sizes of 1 give way.
std::map<Label, Dim> sizes_of(const einsum::Args& a, const Equation& e) {
  std::map<Label, Dim> sizes;
  for (size_t i = 0; i < e.inputs.size(); ++i)
    for (size_t k = 0; k < e.inputs[i].size(); ++k) {
      const Dim d = a.x[i].shape()[k];
      auto [at, fresh] = sizes.try_emplace(e.inputs[i][k], d);
      if (fresh || is_one(d)) continue;
      if (is_one(at->second)) {
        at->second = d;
      } else if (!infer::agree(at->second, d)) {
        const Label l = e.inputs[i][k];
        wrong(a.equation, fmt::format("label '{}' stands for sizes {} and {}",
                                      l > 0 ? std::string(1, static_cast<char>(l)) : "...", at->second.str(), d.str()));
      }
    }
  return sizes;
}

struct Operand {
  Tensor x;
  Labels labels;
};

Operand with_diagonals(Operand o) {
  for (size_t i = 0; i < o.labels.size();) {
    const Label l = o.labels[i];
    const auto again = std::find(o.labels.begin() + static_cast<long>(i) + 1, o.labels.end(), l);
    if (again == o.labels.end()) {
      ++i;
      continue;
    }
    const auto j = again - o.labels.begin();
    o.x = ops::diagonal(o.x, 0, static_cast<int64_t>(i), j);  // the diagonal becomes the last axis
    o.labels.erase(o.labels.begin() + j);
    o.labels.erase(o.labels.begin() + static_cast<long>(i));
    o.labels.push_back(l);
  }
  return o;
}

template <class Keep>
Operand summed(Operand o, Keep keep) {
  Shape axes;
  Labels left;
  for (size_t i = 0; i < o.labels.size(); ++i) {
    if (keep(o.labels[i]))
      left.push_back(o.labels[i]);
    else
      axes.push_back(Dim(i));
  }
  if (axes.empty()) return o;
  return {ops::sum(o.x, Ints(axes), o.x.dtype(), false), left};
}

// The axes in the given order; labels that the operand lacks become axes of 1.
Tensor arranged(const Operand& o, const Labels& order) {
  std::vector<int64_t> perm;
  for (Label l : order)
    if (has(o.labels, l)) perm.push_back(static_cast<int64_t>(place_of(o.labels, l)));
  Tensor x = std::is_sorted(perm.begin(), perm.end()) ? o.x : ops::transpose(o.x, perm);
  if (perm.size() == order.size()) return x;
  Shape s;
  for (Label l : order) s.push_back(has(o.labels, l) ? o.x.shape()[place_of(o.labels, l)] : Dim(1));
  return compose::reshape_to(x, s);
}

Shape sizes_in(const Operand& o, const Labels& labels) {
  Shape s;
  for (Label l : labels) s.push_back(o.x.shape()[place_of(o.labels, l)]);
  return s;
}

Dim product_of(const Shape& s) {
  Dim n = 1;
  for (Dim d : s) n = n * d;
  return n;
}

// A label whose size is 1 in one of two operands only: it is summed in the other before they meet.
void sum_lonely(Operand& a, Operand& b, const Labels& labels) {
  for (Label l : labels) {
    const bool one_a = is_one(a.x.shape()[place_of(a.labels, l)]), one_b = is_one(b.x.shape()[place_of(b.labels, l)]);
    if (one_a == one_b) continue;
    a = summed(a, [&](Label k) { return k != l; });
    b = summed(b, [&](Label k) { return k != l; });
  }
}

// Two operands as one matrix product: common labels that stay, then the rows of each; common ones that go are summed.
Operand contracted(Operand a, Operand b, const Labels& later) {
  Labels common, batch, gone, only_a, only_b;
  for (Label l : a.labels)
    if (has(b.labels, l)) common.push_back(l);
  for (Label l : common)
    if (!has(later, l)) gone.push_back(l);
  sum_lonely(a, b, gone);
  gone.clear();
  for (Label l : a.labels) (!has(b.labels, l) ? only_a : has(later, l) ? batch : gone).push_back(l);
  for (Label l : b.labels)
    if (!has(a.labels, l)) only_b.push_back(l);
  Labels out = batch;
  out.insert(out.end(), only_a.begin(), only_a.end());
  out.insert(out.end(), only_b.begin(), only_b.end());
  if (gone.empty()) return {arranged(a, out) * arranged(b, out), out};
  Labels order_a = batch, order_b = batch;
  order_a.insert(order_a.end(), only_a.begin(), only_a.end());
  order_a.insert(order_a.end(), gone.begin(), gone.end());
  order_b.insert(order_b.end(), gone.begin(), gone.end());
  order_b.insert(order_b.end(), only_b.begin(), only_b.end());
  const Shape rows = sizes_in(a, only_a), columns = sizes_in(b, only_b);
  Shape sa = sizes_in(a, batch), sb = sizes_in(b, batch);
  sa.push_back(product_of(rows));
  sa.push_back(product_of(sizes_in(a, gone)));
  sb.push_back(product_of(sizes_in(b, gone)));
  sb.push_back(product_of(columns));
  Tensor p = ops::matmul(compose::reshape_to(arranged(a, order_a), sa), compose::reshape_to(arranged(b, order_b), sb));
  Shape s(p.shape().begin(), p.shape().end() - 2);
  for (const Shape* part : {&rows, &columns})
    for (Dim d : *part) s.push_back(d);
  return {compose::reshape_to(p, s), out};
}

}  // namespace

void einsum::shape(const Args& a, TensorMeta& out, std::vector<TensorMeta>& inner_cache,
                   std::vector<TensorMeta>& xshape) {
  check(!a.x.empty(), ErrorKind::kValue, "[einsum] expected at least one operand, got none");
  const Equation e = parse(a);
  const auto sizes = sizes_of(a, e);
  for (Label l : e.output) out.shape.push_back(sizes.at(l));
  inner_cache.clear();
  xshape.clear();
}

ops::einsum_out einsum::decompose(const Args& a) {
  const Equation e = parse(a);
  sizes_of(a, e);
  std::vector<Operand> terms;
  for (size_t i = 0; i < a.x.size(); ++i) terms.push_back(with_diagonals({a.x[i], e.inputs[i]}));
  while (terms.size() > 1) {
    Labels later = e.output;
    for (size_t i = 2; i < terms.size(); ++i) later.insert(later.end(), terms[i].labels.begin(), terms[i].labels.end());
    Operand x = terms[0], y = terms[1];
    Operand first = summed(x, [&](Label l) { return has(later, l) || has(y.labels, l); });
    Operand second = summed(y, [&](Label l) { return has(later, l) || has(x.labels, l); });
    terms.erase(terms.begin());
    terms[0] = contracted(first, second, later);
  }
  Operand x = summed(terms[0], [&](Label l) { return has(e.output, l); });
  return {arranged(x, e.output), {}, {}};
}

}  // namespace paddle::rules
