#include "spmd/rule_instance.h"

#include <algorithm>

namespace paddle::spmd {

bool PartialPass::lets(PartialKind kind) const {
  if (through == kMoves) return true;
  if (through == kLinear) return kind == PartialKind::kSum || kind == PartialKind::kAvg;
  return kind == PartialKind::kMax || kind == PartialKind::kMin || kind == PartialKind::kAny ||
         kind == PartialKind::kAll;
}

const AttrValue& CallInfo::attr(std::string_view name) const {
  static const AttrValue kNone;
  for (const auto& [key, value] : attrs)
    if (key == name) return value;
  return kNone;
}

int64_t CallInfo::int_attr(std::string_view name, int64_t otherwise) const {
  const AttrValue& a = attr(name);
  if (auto* v = std::get_if<int64_t>(&a)) return *v;
  if (auto* v = std::get_if<bool>(&a)) return *v;
  if (auto* v = std::get_if<std::vector<int64_t>>(&a); v && v->size() == 1) return v->front();
  return otherwise;
}

bool CallInfo::bool_attr(std::string_view name, bool otherwise) const {
  const AttrValue& a = attr(name);
  if (auto* v = std::get_if<bool>(&a)) return *v;
  if (auto* v = std::get_if<int64_t>(&a)) return *v != 0;
  return otherwise;
}

std::string CallInfo::string_attr(std::string_view name, std::string otherwise) const {
  auto* v = std::get_if<std::string>(&attr(name));
  return v ? *v : otherwise;
}

std::vector<int64_t> CallInfo::ints_attr(std::string_view name) const {
  const AttrValue& a = attr(name);
  if (auto* v = std::get_if<std::vector<int64_t>>(&a)) return *v;
  if (auto* v = std::get_if<int64_t>(&a)) return {*v};
  return {};
}

namespace {

void flatten(const std::vector<Slot>& slots, std::vector<TensorFactors>& flat, std::vector<int>& start) {
  for (const Slot& slot : slots) {
    start.push_back(static_cast<int>(flat.size()));
    for (const TensorInfo& t : slot)
      flat.push_back({t.shape, t.itemsize, std::vector<std::vector<int>>(t.shape.size())});
  }
}

bool has_factor(const TensorFactors& tensor, int factor) {
  return std::any_of(tensor.dims.begin(), tensor.dims.end(),
                     [&](auto& dim) { return std::find(dim.begin(), dim.end(), factor) != dim.end(); });
}

}  // namespace

RuleBuilder::RuleBuilder(const CallInfo& call) {
  flatten(call.inputs, instance_.inputs, input_start_);
  flatten(call.outputs, instance_.outputs, output_start_);
}

int RuleBuilder::factor(int64_t size, std::string label) {
  instance_.factors.push_back({size, false, std::nullopt, {}, std::move(label)});
  return static_cast<int>(instance_.factors.size()) - 1;
}

void RuleBuilder::set_reduce(int f, PartialKind kind, std::span<const int> additive) {
  instance_.factors[f].reduce = kind;
  instance_.factors[f].additive.assign(additive.begin(), additive.end());
}

void RuleBuilder::input(int slot, int index, int dim, std::vector<int> factors) {
  TensorFactors& t = instance_.inputs.at(input_start_.at(slot) + index);
  if (t.shape.at(dim) != 1) t.dims.at(dim) = std::move(factors);
}

void RuleBuilder::output(int slot, int index, int dim, std::vector<int> factors) {
  TensorFactors& t = instance_.outputs.at(output_start_.at(slot) + index);
  if (t.shape.at(dim) != 1) t.dims.at(dim) = std::move(factors);
}

void RuleBuilder::pass(PartialPass::Through through, std::vector<int> flat_inputs) {
  if (!flat_inputs.empty()) instance_.passes.push_back({through, std::move(flat_inputs)});
}

RuleInstance RuleBuilder::finish() {
  for (size_t f = 0; f < instance_.factors.size(); ++f) {
    Factor& factor = instance_.factors[f];
    auto has = [&](const TensorFactors& t) { return has_factor(t, static_cast<int>(f)); };
    bool in_input = std::any_of(instance_.inputs.begin(), instance_.inputs.end(), has);
    bool in_every_output = true;
    for (int o = 0; o < static_cast<int>(instance_.outputs.size()); ++o)
      in_every_output &=
          has(instance_.outputs[o]) || std::find(left_out_.begin(), left_out_.end(), o) != left_out_.end();
    if (!in_input || (!in_every_output && !factor.reduce)) factor.whole = true;
  }
  return std::move(instance_);
}

RuleInstance replicate_all(const CallInfo& call, std::string reason) {
  RuleInstance instance = RuleBuilder(call).finish();
  instance.replicate_all = true;
  instance.reason = std::move(reason);
  return instance;
}

}  // namespace paddle::spmd
