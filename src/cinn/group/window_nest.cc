#include "cinn/group/window_nest.h"

namespace paddle::cinn {

using scalar::Fn;

WindowNest::WindowNest(Nest& e, const pir::Operation& op, const Shape& filter) : e_(e) {
  for (size_t i = 2; i < filter.size(); ++i) {
    if (!filter[i].is_const()) no_nest(op, "a window's size is symbolic");
    kernel_.push_back(filter[i].value());
  }
  read(op);
}

WindowNest::WindowNest(Nest& e, const pir::Operation& op, std::vector<int64_t> kernel)
    : e_(e), kernel_(std::move(kernel)) {
  read(op);
}

void WindowNest::read(const pir::Operation& op) {
  const size_t n = kernel_.size();
  auto numbers = [&](std::string_view name) {
    std::vector<int64_t> out;
    for (const Index& i : e_.t.ints(op, name)) {
      if (!i.is_const()) no_nest(op, "a stride or padding is symbolic");
      out.push_back(i.value());
    }
    if (out.empty()) out.push_back(1);
    if (out.size() == 1) out.resize(n, out[0]);
    return out;
  };
  const std::string format = word(op, "data_format", "NCHW"), algorithm = word(op, "padding_algorithm", "EXPLICIT");
  channels_last_ = format.back() == 'C';
  strides_ = numbers("strides");
  dilations_ = op.has_attr("dilations") ? numbers("dilations") : std::vector<int64_t>(n, 1);
  before_.assign(n, 0);
  if (algorithm == "SAME") {
    const Shape shape = e_.t.shape_of(op.operand(size_t{0}));
    for (size_t i = 0; i < n; ++i) {
      const Index size = shape[channels_last_ ? i + 1 : i + 2];
      if (!size.is_const()) no_nest(op, "padding SAME of a symbolic size");
      dilations_[i] = 1;
      const int64_t out = (size.value() + strides_[i] - 1) / strides_[i];
      before_[i] = std::max<int64_t>(0, (out - 1) * strides_[i] + kernel_[i] - size.value()) / 2;
    }
  } else if (algorithm == "EXPLICIT" && op.has_attr("paddings")) {
    std::vector<int64_t> p = numbers("paddings");
    for (size_t i = 0; i < n; ++i) before_[i] = p.size() == 2 * n ? p[2 * i] : p[i];
  }
}

Index WindowNest::outputs(pir::Value v, int a) {
  return e_.t.shape_of(v)[static_cast<size_t>(a) + (channels_last_ ? 1 : 2)];
}

int WindowNest::to_channels_first(int x) { return channels_last_ ? e_.move(x, e_.shape(x).size() - 1, 1) : x; }
int WindowNest::from_channels_first(int x) { return channels_last_ ? e_.move(x, 1, e_.shape(x).size() - 1) : x; }

int WindowNest::position(int a, const Shape& pairs) {
  const size_t k = static_cast<size_t>(a);
  int start = e_.mul(e_.iota(pairs, 0), e_.number(strides_[k]));
  int offset = e_.mul(e_.iota(pairs, 1), e_.number(dilations_[k]));
  return e_.sub(e_.add(start, offset), e_.number(before_[k]));
}

// Rows that don't exist are read at the nearest that does, and replaced.
int WindowNest::gathered(int x, size_t at, int rows, int valid, int fill) {
  int read = e_.g.gather(x, rows, static_cast<int>(at));
  Shape spread(e_.shape(read).size(), Index(1));
  spread[at] = e_.shape(rows)[0];
  spread[at + 1] = e_.shape(rows)[1];
  return e_.where(e_.g.reshape(valid, spread), read, fill, e_.dtype(x));
}

int WindowNest::inside(int a, const Index& n, const Index& size) {
  int at = position(a, {n, Index(kernel(a))});
  return e_.both(e_.test(Fn::ge, at, e_.number(0)), e_.test(Fn::lt, at, e_.count(size)));
}

int WindowNest::windows(int x, size_t at, int a, const Index& n, int fill) {
  const Index size = e_.shape(x)[at];
  return gathered(x, at, position(a, {n, Index(kernel(a))}), inside(a, n, size), fill);
}

int WindowNest::sources(int y, size_t at, int a, const Index& n, int fill) {
  const size_t k = static_cast<size_t>(a);
  const Shape pairs{n, Index(kernel(a))};
  int offset = e_.mul(e_.iota(pairs, 1), e_.number(dilations_[k]));
  int start = e_.sub(e_.add(e_.iota(pairs, 0), e_.number(before_[k])), offset), stride = e_.number(strides_[k]);
  int position = e_.div(start, stride);
  int whole_steps = e_.test(Fn::eq, e_.mul(position, stride), start);
  int exists = e_.both(e_.test(Fn::ge, start, e_.number(0)), e_.test(Fn::lt, position, e_.count(e_.shape(y)[at])));
  return gathered(y, at, position, e_.both(whole_steps, exists), fill);
}

}  // namespace paddle::cinn
