// Rules of ops/rnn.yaml. The inputs of all steps go through one product; a step is then one product with the state.
#include "phi/rules_rnn.h"

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"

namespace paddle::rules {
namespace {

int64_t gates(std::string_view mode) {
  if (mode == "LSTM") return 4;
  if (mode == "GRU") return 3;
  check(mode == "RNN_TANH" || mode == "RNN_RELU", ErrorKind::kValue,
        "[rnn] expected mode LSTM, GRU, RNN_TANH or RNN_RELU, got {}", mode);
  return 1;
}

int64_t directions(const rnn::Args& a) { return a.is_bidirec ? 2 : 1; }

// What one layer has in one direction.
struct Cell {
  Tensor input_weight, state_weight, input_bias, state_bias;
};

Cell cell_of(const rnn::Args& a, int64_t layer, int64_t direction) {
  const auto at = static_cast<size_t>(2 * (layer * directions(a) + direction));
  const size_t biases = a.weight_list.size() / 2;
  return {a.weight_list[at], a.weight_list[at + 1], a.weight_list[biases + at], a.weight_list[biases + at + 1]};
}

void check_cells(const rnn::Args& a) {
  const int64_t g = gates(a.mode), d = directions(a);
  check(a.num_layers >= 1 && a.num_layers < (1 << 20), ErrorKind::kValue,
        "[rnn] expected num_layers of at least 1, got {}", a.num_layers);
  check(static_cast<int64_t>(a.weight_list.size()) == 4 * a.num_layers * d, ErrorKind::kValue,
        "[rnn] expected {} tensors in weight_list (two weights and two biases for each of {} layers and {} "
        "directions), got {}",
        4 * a.num_layers * d, a.num_layers, d, a.weight_list.size());
  const Dim hidden = infer::extent_of("rnn", "hidden_size", a.hidden_size), rows = Dim(g) * hidden;
  for (int64_t layer = 0; layer < a.num_layers; ++layer) {
    const Dim width = layer == 0 ? a.x.dim(2) : Dim(d) * hidden;
    for (int64_t way = 0; way < d; ++way) {
      const Cell c = cell_of(a, layer, way);
      infer::check_rank("rnn", "input weight", c.input_weight, 2, 2);
      infer::check_rank("rnn", "state weight", c.state_weight, 2, 2);
      infer::check_size("rnn", "an input weight's rows (gates * hidden_size)", rows, c.input_weight.dim(0));
      infer::check_size("rnn", "an input weight's columns", width, c.input_weight.dim(1));
      infer::check_size("rnn", "a state weight's rows (gates * hidden_size)", rows, c.state_weight.dim(0));
      infer::check_size("rnn", "a state weight's columns (hidden_size)", hidden, c.state_weight.dim(1));
      for (const Tensor& b : {c.input_bias, c.state_bias}) {
        infer::check_rank("rnn", "bias", b, 1, 1);
        infer::check_size("rnn", "a bias (gates * hidden_size)", rows, b.dim(0));
      }
    }
  }
}

// One direction of one layer.
struct Direction {
  const rnn::Args& a;
  Cell cell;
  Tensors masks;  // per step [B, 1]: does the sequence go on; empty without lengths

  struct State {
    Tensor h, c;
  };

  State step(const Tensor& x, const State& s) const {
    Tensor h = ops::matmul(s.h, cell.state_weight, false, true);
    if (a.mode == "GRU") {
      h = h + cell.state_bias;
      const Tensors from_x = ops::split_with_num(x, 3, -1), from_h = ops::split_with_num(h, 3, -1);
      Tensor reset = ops::sigmoid(from_x[0] + from_h[0]), update = ops::sigmoid(from_x[1] + from_h[1]);
      Tensor candidate = ops::tanh(from_x[2] + reset * from_h[2]);
      return {(s.h - candidate) * update + candidate, {}};
    }
    if (a.mode == "LSTM") {
      const Tensors g = ops::split_with_num(x + h, 4, -1);  // input, forget, candidate, output
      Tensor c = ops::sigmoid(g[1]) * s.c + ops::sigmoid(g[0]) * ops::tanh(g[2]);
      return {ops::sigmoid(g[3]) * ops::tanh(c), c};
    }
    return {a.mode == "RNN_RELU" ? ops::relu(x + h) : ops::tanh(x + h), {}};
  }

  // outputs: one per step, in the order of time.
  State run(const Tensor& x, State s, bool backwards, Tensors& outputs) const {
    // A GRU's reset gate acts on the state's part with its bias; elsewhere both biases come in at once.
    Tensor bias = a.mode == "GRU" ? cell.input_bias : cell.input_bias + cell.state_bias;
    const Tensors inputs = ops::unbind(ops::matmul(x, cell.input_weight, false, true) + bias, 0);
    const size_t n = inputs.size();
    outputs.resize(n);
    for (size_t i = 0; i < n; ++i) {
      const size_t t = backwards ? n - 1 - i : i;
      State next = step(inputs[t], s);
      if (masks.empty()) {
        outputs[t] = next.h;
        s = next;
        continue;
      }
      outputs[t] = ops::where(masks[t], next.h, compose::zeros_like(next.h));
      s.h = ops::where(masks[t], next.h, s.h);
      if (s.c.defined()) s.c = ops::where(masks[t], next.c, s.c);
    }
    return s;
  }
};

Tensors step_masks(const rnn::Args& a) {
  if (!a.sequence_length.defined()) return {};
  const DType t = a.sequence_length.dtype();
  Tensor steps = ops::unsqueeze(ops::arange(Scalar(0), Scalar(a.x.dim(0)), Scalar(1), t), {1});
  Tensor goes_on = ops::less_than(steps, ops::unsqueeze(a.sequence_length, {0}));  // [T, B]
  return ops::unbind(ops::unsqueeze(goes_on, {-1}), 0);
}

}  // namespace

void rnn::shape(const Args& a, TensorMeta& out, TensorMeta& dropout_state_out, std::vector<TensorMeta>& state,
                TensorMeta& reserve) {
  infer::check_rank("rnn", "x", a.x, 3, 3);
  check_cells(a);
  const size_t states = a.mode == "LSTM" ? 2 : 1;
  check(a.pre_state.size() == states, ErrorKind::kValue, "[rnn] expected {} tensors in pre_state for mode {}, got {}",
        states, a.mode, a.pre_state.size());
  const Dim batch = a.x.dim(1), rows(a.num_layers * directions(a)), hidden(a.hidden_size);
  const DType dtype = a.x.dtype();
  state.clear();
  for (const Tensor& s : a.pre_state) {
    infer::check_rank("rnn", "pre_state", s, 3, 3);
    infer::check_size("rnn", "pre_state's first axis (layers * directions)", rows, s.dim(0));
    infer::check_size("rnn", "pre_state's batch", batch, s.dim(1));
    infer::check_size("rnn", "pre_state's last axis (hidden_size)", hidden, s.dim(2));
    state.push_back({dtype, {rows, batch, hidden}});
  }
  if (a.sequence_length.defined()) {
    infer::check_rank("rnn", "sequence_length", a.sequence_length, 1, 1);
    infer::check_size("rnn", "sequence_length (batch)", batch, a.sequence_length.dim(0));
  }
  out.shape = {a.x.dim(0), batch, Dim(directions(a)) * hidden};
  dropout_state_out.shape = {Dim(0)};
  reserve.shape = {Dim(0)};
}

ops::rnn_out rnn::decompose(const Args& a) {
  const int64_t d = directions(a);
  // The batch of x and of the states may be one size under two names.
  const Shape states{Dim(a.num_layers * d), a.x.dim(1), Dim(a.hidden_size)};
  auto before = [&](size_t i) {
    const Tensor& s = a.pre_state[i];
    return ops::unbind(s.dim(1) == a.x.dim(1) ? s : compose::reshape_to(s, states), 0);
  };
  Tensors before_h = before(0), before_c, h, c;
  if (a.mode == "LSTM") before_c = before(1);
  const Tensors masks = step_masks(a);
  Tensor x = a.x;
  for (int64_t layer = 0; layer < a.num_layers; ++layer) {
    if (layer > 0 && a.dropout_prob > 0 && !a.is_test)
      x = ops::dropout(x, {}, Scalar(a.dropout_prob), false, "upscale_in_train").out;
    Tensors ways;
    for (int64_t way = 0; way < d; ++way) {
      const auto at = static_cast<size_t>(layer * d + way);
      Tensors outputs;
      Direction direction{a, cell_of(a, layer, way), masks};
      auto last = direction.run(x, {before_h[at], before_c.empty() ? Tensor() : before_c[at]}, way == 1, outputs);
      h.push_back(last.h);
      if (last.c.defined()) c.push_back(last.c);
      ways.push_back(ops::stack(outputs, 0));
    }
    x = d == 1 ? ways[0] : ops::concat(ways, -1);
  }
  Tensors state{ops::stack(h, 0)};
  if (!c.empty()) state.push_back(ops::stack(c, 0));
  Tensor none = ops::full(Shape{Dim(0)}, Scalar(0), DType::kUInt8);
  return {x, none, state, none};
}

}  // namespace paddle::rules
