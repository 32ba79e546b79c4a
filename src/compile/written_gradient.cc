#include "compile/written_gradient.h"

#include "api/ops.h"
#include "autograd/node.h"
#include "compile/interpret.h"
#include "dispatch/state.h"
#include "dispatch/trace_gradients.h"
#include "pir/builder.h"
#include "pir/clone.h"
#include "pir/custom_gradient.h"
#include "pir/dominance.h"

namespace paddle::compile {
namespace {

using pir::Operation;
using pir::Value;

Value input(pir::Builder& b, const char* name, size_t k, pir::Type t) {
  check(t.has_shape(), ErrorKind::kNotImplemented, "[custom_grad] a gradient that reads a list of tensors");
  return b.data(name + std::to_string(k), t);
}

bool captured_by(const Operation& op, size_t r, Value v) {
  bool used = false;
  for (Operation& inner : op.region(r).front())
    inner.walk([&](Operation& at) {
      for (Value o : at.operands()) used |= o == v;
    });
  return used;
}

class WrittenNode final : public autograd::Node {
 public:
  std::vector<WrittenGradient> regions;
  std::vector<std::vector<size_t>> inputs;  // that a region's values belong to
  std::vector<uint64_t> given;              // the results that have gradients, per region

  std::string name() const override { return "custom_grad"; }

  Tensors apply(Tensors&& out_grads, bool create_graph) override {
    dispatch::GradMode mode(create_graph);
    uint64_t have = 0;
    for (size_t k = 0; k < out_grads.size(); ++k) {
      if (out_grads[k].defined())
        have |= uint64_t{1} << k;
      else
        out_grads[k] = ops::full(output_metas[k].shape, Scalar(0.0), output_metas[k].dtype);
    }
    auto it = std::find(given.begin(), given.end(), have);
    const size_t r = it == given.end() ? 0 : static_cast<size_t>(it - given.begin());
    Tensors values = regions[r].run(out_grads), grads(edges.size());
    for (size_t k = 0; k < values.size(); ++k) grads[inputs[r][k]] = values[k];
    return grads;
  }
};

uint64_t set_of(const Operation& op, size_t r) { return static_cast<uint64_t>(op.attr("given").as_ints()[r].value()); }

}  // namespace

WrittenGradient::WrittenGradient(const Operation& op, size_t region) {
  auto program = std::make_shared<pir::Program>();
  pir::Builder b(*program);
  pir::ValueMap map;
  for (Value v : pir::captured_values(op)) {
    if (!captured_by(op, region, v)) continue;
    map[v] = input(b, "read_", outside_.size(), v.type());
    if (v.attr("stop_gradient")) map[v].set_stop_gradient(v.stop_gradient());
    outside_.push_back(v);
  }
  const pir::Block& block = op.region(region).front();
  for (size_t k = 0; k < block.num_args(); ++k) map[block.arg(k)] = input(b, "arg_", k, block.arg(k).type());
  for (Operation& inner : block)
    if (!inner.has(pir::kTerminator)) program->block().push_back(pir::clone_op(inner, map));
  size_t k = 0;
  for (Value v : block.terminator()->operands()) b.shadow_output("output_" + std::to_string(k++), pir::mapped(map, v));
  program_ = std::move(program);
}

Tensors WrittenGradient::run(const Tensors& args) const {
  Tensors inputs = read;
  inputs.insert(inputs.end(), args.begin(), args.end());
  return interpret(*program_, inputs, {});
}

Tensors with_written_gradient(const Operation& op, const Tensors& inputs, const Tensors& computed,
                              std::vector<WrittenGradient> regions) {
  bool records = false;
  if (dispatch::state().grad_enabled)
    for (const Tensor& t : inputs) records |= !t.stop_gradient();
  if (!records) return computed;
  if (dispatch::Trace* trace = dispatch::Trace::active()) {
    std::vector<Value> values;
    for (const Tensor& t : inputs) values.push_back(trace->value_of(t));
    std::vector<pir::Type> types;
    for (const Tensor& t : computed) types.push_back(trace->value_of(t).type());
    std::vector<std::unique_ptr<dispatch::TraceRegion>> built;
    std::vector<dispatch::GradientRegion> list;
    std::vector<bool> stops;
    for (size_t k = 0; k < op.num_results(); ++k) stops.push_back(op.result(k).stop_gradient());
    for (size_t r = 0; r < regions.size(); ++r) {
      built.push_back(std::make_unique<dispatch::TraceRegion>(*trace, std::span<const pir::Type>(types)));
      Tensors grads(inputs.size());
      {
        dispatch::GradientScope scope(*trace, *built.back());
        Tensors found = regions[r].run(built.back()->args());
        const std::vector<size_t> to = pir::gradient_inputs(op, r);
        for (size_t k = 0; k < found.size(); ++k) grads[to[k]] = found[k];
      }
      list.push_back({set_of(op, r), built.back().get(), std::move(grads)});
    }
    return dispatch::build_custom_grad(*trace, "custom_grad", values, computed, stops, list);
  }
  auto node = make_ref<WrittenNode>();
  for (size_t r = 0; r < regions.size(); ++r) {
    node->inputs.push_back(pir::gradient_inputs(op, r));
    node->given.push_back(set_of(op, r));
  }
  node->regions = std::move(regions);
  for (const Tensor& t : inputs) node->edges.push_back(autograd::edge_of(t));
  node->num_outputs = static_cast<uint32_t>(computed.size());
  Tensors results;
  for (size_t k = 0; k < computed.size(); ++k) {
    node->output_metas.push_back({computed[k].dtype(), computed[k].shape()});
    Tensor t(TensorImpl::make());
    t.become(computed[k]);
    t->grad_fn = nullptr;
    if (!op.result(k).stop_gradient()) autograd::set_history(t, node, static_cast<uint32_t>(k));
    results.push_back(std::move(t));
  }
  return results;
}

void add_written_hook(const Tensor& t, WrittenGradient hook) {
  if (dispatch::Trace* trace = dispatch::Trace::active()) {
    const pir::Type type = trace->value_of(t).type();
    dispatch::TraceRegion region(*trace, std::span<const pir::Type>(&type, 1));
    Tensor result;
    {
      dispatch::GradientScope scope(*trace, region);
      result = hook.run(region.args())[0];
    }
    dispatch::add_gradient_hook(*trace, t, region, result, nullptr);
    return;
  }
  autograd::add_hook(t, [hook = std::move(hook)](const Tensor& g) { return hook.run({g})[0]; });
}

}  // namespace paddle::compile
