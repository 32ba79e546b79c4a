#include "distributed/partition/partition.h"

#include <optional>
#include <set>
#include <unordered_map>

#include "api/ops.h"
#include "dispatch/eager.h"
#include "dispatch/state.h"
#include "dispatch/trace.h"
#include "distributed/call_info.h"
#include "distributed/environment.h"
#include "distributed/reshard.h"
#include "pir/clone.h"
#include "pir/op_args.h"
#include "pir/recompute.h"
#include "spmd/attr_text.h"
#include "spmd/dist_payload.h"
#include "spmd/local_shape.h"
#include "spmd/reshard_plan.h"

namespace paddle::distributed {
namespace {

bool is_name(std::string_view text) { return text.starts_with('@'); }

// Where the operation puts a tensor; nothing: it puts it on no mesh that it names.
std::optional<spmd::DistAttr> target_of(const pir::Operation& op) {
  if (!op.info() || op.info()->spmd != "rule: dist") return std::nullopt;
  pir::Attribute attr = op.attr("to");
  std::string_view to = attr ? std::string_view(attr.as_string()) : "";
  if (to.starts_with('~')) to.remove_prefix(to.find(':') + 1);
  if (to.empty() || is_name(to)) return std::nullopt;
  return spmd::decode(to);
}

class Partitioner {
 public:
  explicit Partitioner(const pir::Program& whole, const PartitionOptions& options = {})
      : whole_(whole), options_(options), trace_("partition", pir::Program()) {}

  pir::Program run() {
    dispatch::StackScope only(&trace_);
    dispatch::GradMode off(false);
    std::set<int64_t> ranks = all_ranks();
    std::optional<WholeScope> whole_on;
    if (!ranks.empty()) whole_on.emplace(ranks);
    num_ranks_ = ranks.size();
    pir::Block& block = *trace_.builder().block();
    const pir::Operation* marked = options_.mark ? *options_.mark : nullptr;
    for (pir::Operation& op : whole_.block()) {
      pir::Operation* last = block.back();
      visit(op);
      for (pir::Operation* made = last ? last->next() : block.front(); made; made = made->next()) keep_notes(op, *made);
      if (&op == marked) *options_.mark = block.back();
      if (report_) note(op);
    }
    pir::Program result = trace_.take_program();
    for (auto& [name, tensor] : whole_.parameters()) {
      Tensor local = local_part(tensor);
      if (local.defined()) result.set_parameter(name, local);
    }
    return result;
  }

  std::string* report_ = nullptr;

 private:
  // All that take part: the ranks of the meshes of parameters, inputs and reshards.
  std::set<int64_t> all_ranks() const {
    std::set<int64_t> ranks;
    auto add = [&](const spmd::DistAttr& attr) {
      ranks.insert(attr.mesh.process_ids().begin(), attr.mesh.process_ids().end());
    };
    for (auto& [name, tensor] : whole_.parameters())
      if (tensor.defined() && tensor.is_dist()) add(spmd::dist_attr(tensor));
    for (auto& [name, attr] : options_.inputs) add(*attr);
    for (pir::Operation& op : whole_.block())
      if (auto target = target_of(op)) add(*target);
    return ranks;
  }

  // What was noted of the operation holds for those that take its place.
  static void keep_notes(const pir::Operation& op, pir::Operation& made) {
    made.set_loc(op.loc());
    for (const char* name : {pir::kRandomKey, pir::kReplayed})
      if (pir::Attribute a = op.attr(name); a && made.has(kRandom)) made.set_attr(name, a);
  }

  void visit(pir::Operation& op) {
    if (op.is("builtin.parameter")) return parameter(op);
    if (op.is("pd_op.data") && options_.inputs.count(op.attr("name").as_string())) return data(op);
    if (op.is("pd_op.reshard")) return reshard(op);
    if (op.is("builtin.combine")) return combine(op);
    if (op.is("builtin.split")) return split(op);
    if (op.is("builtin.slice")) return take_item(op);
    if (op.is("builtin.set_parameter")) return set_parameter(op);
    if (op.is("builtin.shadow_output") && options_.results.count(op.attr("output_name").as_string())) return result(op);
    if (op.is("builtin.shadow_output") && stays(op.operand(0))) return stay(op);
    if (op.has(pir::kBarrier) && any_dist(op)) return barrier(op);
    const OpInfo* info = op.info();
    bool region_free = op.num_regions() == 0;
    if (info && region_free && any_dist(op)) return call(op, *info);
    copy(op);
  }

  // -- values of the whole program, as tensors of the new one
  const OutSlot& slot(pir::Value v) const {
    auto it = values_.find(v);
    PD_INVARIANT(it != values_.end());
    return it->second;
  }

  bool any_dist(const pir::Operation& op) const {
    for (pir::Value v : op.operands()) {
      if (!v) continue;
      auto it = values_.find(v);
      if (it == values_.end()) continue;
      if (it->second.tensor.defined() && it->second.tensor.is_dist()) return true;
      for (const Tensor& t : it->second.list)
        if (t.defined() && t.is_dist()) return true;
    }
    return false;
  }

  pir::Value plain_value(const Tensor& t) { return t.defined() ? trace_.value_of(whole_value(t)) : pir::Value(); }

  // The value of the new program that is the whole of `v`.
  pir::Value whole_of(pir::Value v) {
    if (!v) return {};
    auto direct = direct_.find(v);
    if (direct != direct_.end()) return direct->second;
    const OutSlot& s = slot(v);
    if (s.tensor.defined()) return plain_value(s.tensor);
    std::vector<pir::Value> items;
    for (const Tensor& t : s.list) items.push_back(plain_value(t));
    return trace_.builder().combine(items);
  }

  void bind(pir::Value from, pir::Value to) {
    direct_[from] = to;
    if (from.type().has_shape() && from.type().kind() == pir::TypeKind::kTensor)
      values_[from].tensor = trace_.tensor_of(to, to.stop_gradient());
  }

  // -- operations
  void parameter(pir::Operation& op) {
    Tensor t = whole_.parameter(op.attr("parameter_name").as_string());
    if (!t.defined() || !t.is_dist()) return copy(op);
    source(op, op.attrs(), spmd::dist_payload(t).attr);
  }

  void data(pir::Operation& op) {
    const AttrPtr& attr = options_.inputs.at(op.attr("name").as_string());
    pir::AttrMap attrs = op.attrs();
    attrs.set("shape", pir::Attribute::ints(view(part_shape(op.result().shape(), *attr))));
    source(op, attrs, attr);
  }

  Shape part_shape(std::span<const Dim> whole, const spmd::DistAttr& attr) const {
    auto at = attr.mesh.coordinate_of(rank_);
    if (!at) return Shape{Dim(0)};
    spmd::Shape part = spmd::local_shard(spmd::sizes_of(whole), attr.mesh, attr.placements, *at).shape;
    return {part.begin(), part.end()};
  }

  // An input or parameter of which this rank has its part; outside its mesh the program is given something empty.
  void source(pir::Operation& op, const pir::AttrMap& attrs, const AttrPtr& attr) {
    pir::Value whole = op.result();
    pir::Type type = pir::Type::tensor(whole.dtype(), part_shape(whole.shape(), *attr));
    pir::Operation* made = trace_.builder().create(op.def(), {}, attrs, {&type, 1});
    made->result().set_stop_gradient(whole.stop_gradient());
    Tensor local;
    if (attr->mesh.contains(rank_)) local = trace_.tensor_of(made->result(), whole.stop_gradient());
    values_[whole].tensor = spmd::make_dist(whole.shape(), whole.dtype(), Place::cpu(), attr, local);
  }

  // The part of a result, or something empty where this rank has none.
  pir::Value part_of(const Tensor& t) {
    const Tensor& local = spmd::dist_payload(t).local;
    return trace_.value_of(local.defined() ? local : ops::full(Shape{Dim(0)}, Scalar(0.0), t.dtype()));
  }

  void combine(pir::Operation& op) {
    OutSlot s;
    for (pir::Value v : op.operands()) s.list.push_back(v ? slot(v).tensor : Tensor());
    values_[op.result()] = std::move(s);
  }

  // Each part stands behind one.
  void barrier(pir::Operation& op) {
    const Tensor& t = slot(op.operand(0)).tensor;
    const spmd::DistPayload& p = spmd::dist_payload(t);
    if (!p.local.defined()) {  // of another mesh's ranks
      values_[op.result()].tensor = t;
      return;
    }
    pir::Value v = trace_.builder().value(op.name(), {trace_.value_of(p.local)});
    v.set_stop_gradient(op.result().stop_gradient());
    values_[op.result()].tensor =
        spmd::make_dist(t.shape(), t.dtype(), t.place(), p.attr, trace_.tensor_of(v, v.stop_gradient()));
  }

  void split(pir::Operation& op) {
    const OutSlot& list = slot(op.operand(0));
    for (size_t i = 0; i < op.num_results(); ++i)
      if (op.result(i).type()) values_[op.result(i)].tensor = list.list.at(i);
  }

  void take_item(pir::Operation& op) {
    values_[op.result()].tensor = slot(op.operand(0)).list.at(static_cast<size_t>(op.attr("index").as_int()));
  }

  void set_parameter(pir::Operation& op) {
    const std::string& name = op.attr("parameter_name").as_string();
    Tensor parameter = whole_.parameter(name), value = slot(op.operand(0)).tensor;
    if (!parameter.defined() || !parameter.is_dist()) return copy(op);
    Tensor there = reshard_value(value, spmd::dist_payload(parameter).attr);
    trace_.builder().set_parameter(name, part_of(there));
  }

  void result(pir::Operation& op) {
    const std::string& name = op.attr("output_name").as_string();
    Tensor there = reshard_value(slot(op.operand(0)).tensor, options_.results.at(name));
    trace_.builder().shadow_output(name, part_of(there));
  }

  // A gradient goes where the tensor lay that a name stands for (see the record): known only now.
  void reshard(pir::Operation& op) {
    Tensor x = slot(op.operand(0)).tensor;
    const std::string &to = op.attr("to").as_string(), &origin = op.attr("origin").as_string();
    if (is_name(origin)) origins_[origin] = x.is_dist() ? spmd::dist_payload(x).attr : nullptr;
    const AttrPtr lay = is_name(to) ? origins_[to] : nullptr;
    Tensor& out = values_[op.result()].tensor;
    if (!lay) {
      out = reshard_to(x, is_name(to) ? "" : to);
    } else {
      const spmd::DistAttr* grad = x.is_dist() ? &spmd::dist_attr(x) : nullptr;
      out = reshard_value(x, std::make_shared<spmd::DistAttr>(spmd::gradient_attr(*lay, grad)));
    }
  }

  bool stays(pir::Value v) const {
    auto it = values_.find(v);
    if (!options_.stayed || it == values_.end()) return false;
    const Tensor& t = it->second.tensor;
    return t.defined() && t.is_dist() && is_static(view(t.shape())) &&
           spmd::dist_attr(t).mesh.process_ids().size() < num_ranks_;
  }

  void stay(pir::Operation& op) {
    const std::string& name = op.attr("output_name").as_string();
    const Tensor& t = slot(op.operand(0)).tensor;
    const spmd::ProcessMesh& mesh = spmd::dist_attr(t).mesh;
    spmd::DistAttr whole{mesh, spmd::Placements(static_cast<size_t>(mesh.ndim()))};
    auto attr = std::make_shared<const spmd::DistAttr>(std::move(whole));
    (*options_.stayed)[name] = attr;
    trace_.builder().shadow_output(name, part_of(reshard_value(t, attr)));
  }

  // An operator on parts: the dist interpreter takes the call, and what it does is captured.
  void call(pir::Operation& op, const OpInfo& info) {
    bool overwrites = info.has(kInplaceOnly);
    auto tensor_of = [&](pir::Value v) {
      OutSlot s = slot(v);
      if (overwrites) {
        if (s.tensor.defined()) s.tensor = own_handle(s.tensor);
        for (Tensor& t : s.list)
          if (t.defined()) t = own_handle(t);
      }
      return s;
    };
    pir::BoundArgs args(op, tensor_of);
    OpCall c(info, args.args());
    c.key_drawn = true;  // the program draws when it runs
    dispatch::dist_call(c);
    for (size_t i = 0; i < op.num_results(); ++i) {
      if (!op.result(i).type()) continue;
      values_[op.result(i)] = std::move(c.out_slot(i));
    }
  }

  // In SSA an overwritten operand keeps its old meaning: what is written is a handle of its own.
  Tensor own_handle(const Tensor& t) {
    if (!t.is_dist()) return trace_.alias(t);
    const spmd::DistPayload& p = spmd::dist_payload(t);
    return spmd::make_dist(t.shape(), t.dtype(), t.place(), p.attr,
                           p.local.defined() ? trace_.alias(p.local) : p.local);
  }

  // Everything else is as it was, on whole values.
  void copy(pir::Operation& op) {
    pir::ValueMap map;
    for (pir::Value v : op.operands())
      if (v) map[v] = whole_of(v);
    for (size_t r = 0; r < op.num_regions(); ++r) map_free_values(op.region(r), map);
    pir::Operation* made = pir::clone_op(op, map);
    trace_.builder().block()->push_back(made);
    for (size_t i = 0; i < op.num_results(); ++i) {
      if (!op.result(i).type()) continue;
      if (op.result(i).type().is_vector()) {
        std::vector<pir::Value> items = trace_.builder().split(made->result(i));
        for (pir::Value v : items)
          values_[op.result(i)].list.push_back(v && v.type() ? trace_.tensor_of(v, v.stop_gradient()) : Tensor());
        continue;
      }
      bind(op.result(i), made->result(i));
    }
  }

  void map_free_values(const pir::Region& region, pir::ValueMap& map) {
    for (size_t b = 0; b < region.size(); ++b)
      for (pir::Operation& op : region.block(b)) {
        for (pir::Value v : op.operands())
          if (v && !map.count(v) && (values_.count(v) || direct_.count(v))) map[v] = whole_of(v);
        for (size_t r = 0; r < op.num_regions(); ++r) map_free_values(op.region(r), map);
      }
  }

  void note(const pir::Operation& op) {
    auto text = [&](pir::Value v) -> std::string {
      auto it = v ? values_.find(v) : values_.end();
      if (it == values_.end() || !it->second.tensor.defined() || !it->second.tensor.is_dist()) return "-";
      return spmd::to_string(spmd::dist_attr(it->second.tensor).placements);
    };
    std::string in, out;
    for (pir::Value v : op.operands()) in += (in.empty() ? "" : ", ") + text(v);
    for (pir::Value v : op.results_vector()) out += (out.empty() ? "" : ", ") + text(v);
    *report_ += std::string(op.name()) + ": " + in + " -> " + out + "\n";
  }

  const pir::Program& whole_;
  PartitionOptions options_;
  size_t num_ranks_ = 0;
  int rank_ = Environment::current().rank();
  dispatch::Trace trace_;
  std::unordered_map<pir::Value, OutSlot> values_;     // tensors, perhaps distributed
  std::map<std::string, AttrPtr> origins_;             // by name; null: plain
  std::unordered_map<pir::Value, pir::Value> direct_;  // whole values that were copied as they are
};

}  // namespace

bool is_distributed(const pir::Program& program) {
  for (auto& [name, tensor] : program.parameters())
    if (tensor.defined() && tensor.is_dist()) return true;
  for (pir::Operation& op : program.block())
    if (target_of(op)) return true;
  return false;
}

pir::Program partition(const pir::Program& whole, const PartitionOptions& options) {
  return Partitioner(whole, options).run();
}

std::string describe_partition(const pir::Program& whole) {
  std::string report;
  Partitioner p(whole);
  p.report_ = &report;
  p.run();
  return report;
}

}  // namespace paddle::distributed
