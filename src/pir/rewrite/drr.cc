#include "pir/rewrite/drr.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "pir/dominance.h"

namespace paddle::pir {

Value DrrMatch::value(const std::string& name) const {
  auto it = values_.find(name);
  if (it == values_.end()) throw InternalError("the pattern has no value named \"" + name + "\"");
  return it->second;
}

Attribute DrrMatch::attr(const std::string& captured) const {
  auto it = attrs_.find(captured);
  if (it == attrs_.end()) throw InternalError("the pattern captures no attribute as \"" + captured + "\"");
  return it->second;
}

size_t Drr::source(std::string op, Names operands, Names results, Attrs attrs) {
  source_.push_back({std::move(op), std::move(operands), std::move(results), std::move(attrs), {}});
  return source_.size() - 1;
}
size_t Drr::result(std::string op, Names operands, Names results, Attrs attrs, TypesFn types) {
  result_.push_back({std::move(op), std::move(operands), std::move(results), std::move(attrs), std::move(types)});
  return result_.size() - 1;
}
void Drr::replace(std::string source_value, std::string by_value) {
  replaced_.emplace_back(std::move(source_value), std::move(by_value));
}
Drr& Drr::where(std::function<bool(const DrrMatch&)> constraint) {
  constraints_.push_back(std::move(constraint));
  return *this;
}

class DrrPattern : public Pattern {
 public:
  DrrPattern(Drr drr, size_t anchor)
      : Pattern(drr.name_, drr.source_[anchor].op, drr.benefit_), drr_(std::move(drr)), anchor_(anchor) {
    for (size_t i = 0; i < drr_.source_.size(); ++i)
      for (const std::string& r : drr_.source_[i].results)
        if (r != "_") made_by_[r] = i;
    for (const auto& node : drr_.result_)
      for (const std::string& r : node.results)
        if (made_by_.count(r)) outputs_.insert(r);
    for (auto& [from, to] : drr_.replaced_) outputs_.insert(from);
  }

  bool rewrite(Operation& op, Rewriter& r) const override {
    DrrMatch m;
    m.ops_.resize(drr_.source_.size());
    std::vector<std::pair<size_t, Operation*>> todo = {{anchor_, &op}};
    if (!search(m, std::move(todo))) return false;
    apply(m, r);
    return true;
  }

 private:
  using Todo = std::vector<std::pair<size_t, Operation*>>;
  using Node = Drr::Node;

  // Backtracking: `todo` are pairs that must match. On success `m` is complete.
  bool search(DrrMatch& m, Todo todo) const {
    while (!todo.empty()) {
      auto [node, op] = todo.back();
      todo.pop_back();
      if (m.ops_[node]) {
        if (m.ops_[node] != op) return false;
        continue;
      }
      if (std::find(m.ops_.begin(), m.ops_.end(), op) != m.ops_.end()) return false;  // one operation, two roles
      const Node& n = drr_.source_[node];
      if (!op->is(n.op) || op->num_results() < n.results.size()) return false;
      m.ops_[node] = op;
      if (!attributes(m, n, *op)) return false;
      for (size_t i = 0; i < n.results.size(); ++i)
        if (!bind(m, n.results[i], op->result(i))) return false;
      if (op->has(kCommutative) && n.operands.size() == 2 && op->num_operands() == 2) {
        DrrMatch swapped = m;
        Todo rest = todo;
        if (operands(swapped, n, *op, rest, true) && search(swapped, std::move(rest))) {
          // The given order goes first where both match.
          DrrMatch straight = m;
          Todo other = todo;
          m = operands(straight, n, *op, other, false) && search(straight, std::move(other)) ? std::move(straight)
                                                                                             : std::move(swapped);
          return true;
        }
      }
      if (!operands(m, n, *op, todo, false)) return false;
    }
    return others(m);
  }

  // Source operations that the anchor doesn't reach through operands: among the users of what is bound.
  bool others(DrrMatch& m) const {
    for (size_t node = 0; node < drr_.source_.size(); ++node) {
      if (m.ops_[node]) continue;
      const Node& n = drr_.source_[node];
      for (const std::string& name : n.operands) {
        auto it = m.values_.find(name);
        if (name.empty() || name == "_" || it == m.values_.end() || !it->second) continue;
        for (Operation* user : it->second.users()) {
          DrrMatch attempt = m;
          if (user->is(n.op) && search(attempt, {{node, user}})) {
            m = std::move(attempt);
            return true;
          }
        }
        return false;
      }
    }
    if (std::find(m.ops_.begin(), m.ops_.end(), nullptr) != m.ops_.end()) return false;
    return whole(m);
  }

  bool operands(DrrMatch& m, const Node& n, Operation& op, Todo& todo, bool swap) const {
    if (op.num_operands() < n.operands.size()) return false;
    for (size_t i = 0; i < op.num_operands(); ++i) {
      Value v = op.operand(swap ? 1 - i : i);
      const std::string name = i < n.operands.size() ? n.operands[i] : std::string();
      if (name == "_") continue;
      if (name.empty()) {
        if (v) return false;
        continue;
      }
      if (!v || !bind(m, name, v)) return false;
      auto made = made_by_.find(name);
      if (made == made_by_.end()) continue;
      if (!v.is_result()) return false;
      todo.emplace_back(made->second, v.defining_op());
    }
    return true;
  }

  static bool bind(DrrMatch& m, const std::string& name, Value v) {
    if (name.empty() || name == "_") return true;
    auto [it, fresh] = m.values_.emplace(name, v);
    return fresh || it->second == v;
  }

  static bool attributes(DrrMatch& m, const Node& n, const Operation& op) {
    for (const DrrAttr& a : n.attrs) {
      Attribute found = op.attr(a.name);
      if (a.kind == DrrAttr::kLiteral) {
        if (!(found == a.literal)) return false;
        continue;
      }
      auto [it, fresh] = m.attrs_.emplace(a.captured, found);
      if (!fresh && !(it->second == found)) return false;
    }
    return true;
  }

  // Everything is matched: may it be replaced?
  bool whole(const DrrMatch& m) const {
    Block* block = m.ops_[anchor_]->block();
    for (Operation* op : m.ops_)
      if (op->block() != block) return false;
    Operation* last = last_of(m);
    for (size_t i = 0; i < m.ops_.size(); ++i) {
      Operation* op = m.ops_[i];
      for (size_t r = 0; r < op->num_results(); ++r) {
        const auto& names = drr_.source_[i].results;
        bool output = r < names.size() && outputs_.count(names[r]);
        for (OpOperand& use : op->result(r).uses()) {
          bool inside = std::find(m.ops_.begin(), m.ops_.end(), use.owner()) != m.ops_.end();
          if (inside) continue;
          if (!output) return false;
          Operation* user = ancestor_in(*block, use.owner());
          if (!user || !last->is_before(user)) return false;
        }
      }
    }
    for (auto& ok : drr_.constraints_)
      if (!ok(m)) return false;
    return true;
  }

  static Operation* last_of(const DrrMatch& m) {
    Operation* last = m.ops_[0];
    for (Operation* op : m.ops_)
      if (last->is_before(op)) last = op;
    return last;
  }

  void apply(const DrrMatch& m, Rewriter& r) const {
    r.before(last_of(m));
    std::map<std::string, Value> made;
    auto value = [&](const std::string& name) {
      if (name.empty()) return Value();
      auto it = made.find(name);
      return it != made.end() ? it->second : m.value(name);
    };
    for (const Node& n : drr_.result_) {
      std::vector<Value> operands;
      for (const std::string& name : n.operands) operands.push_back(value(name));
      const OpDef& def = op_def(n.op);
      while (operands.size() < def.operands.size() && def.operands[operands.size()].optional &&
             !def.operands[operands.size()].variadic)
        operands.push_back(Value());
      AttrMap attrs = attributes_of(m, n);
      Operation* op = n.types ? create_typed(r, def, operands, std::move(attrs), n.types(m))
                              : r.create(def, operands, std::move(attrs));
      for (size_t i = 0; i < n.results.size(); ++i)
        if (n.results[i] != "_" && !n.results[i].empty()) made[n.results[i]] = op->result(i);
    }
    for (auto& [from, to] : drr_.replaced_) made[from] = value(to);
    for (const std::string& name : outputs_) {
      Value from = m.value(name), to = made.at(name);
      if (Attribute stop = from.attr("stop_gradient"); stop && to.is_result() && !to.attr("stop_gradient"))
        to.set_attr("stop_gradient", stop);
      r.replace_all_uses(from, to);
    }
    // Users before definitions.
    std::vector<Operation*> ops = m.ops_;
    std::sort(ops.begin(), ops.end(), [](Operation* a, Operation* b) { return b->is_before(a); });
    for (Operation* op : ops) r.erase(op);
  }

  static Operation* create_typed(Rewriter& r, const OpDef& def, std::span<const Value> operands, AttrMap attrs,
                                 std::vector<Type> types) {
    def.fill_defaults(attrs);
    return r.create(def, operands, std::move(attrs), types);
  }

  AttrMap attributes_of(const DrrMatch& m, const Node& n) const {
    AttrMap attrs;
    for (const DrrAttr& a : n.attrs) {
      Attribute v = a.kind == DrrAttr::kLiteral   ? a.literal
                    : a.kind == DrrAttr::kCompute ? a.compute(m)
                                                  : m.attr(a.captured);
      if (v) attrs.set(Name(a.name), v);
    }
    return attrs;
  }

  Drr drr_;
  size_t anchor_;
  std::map<std::string, size_t> made_by_;
  std::set<std::string> outputs_;
};

namespace {

template <class... Args>
[[noreturn]] void bad(const std::string& pattern, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorKind::kValue, "[" + pattern + "] " + fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace

std::unique_ptr<Pattern> Drr::build() const {
  if (source_.empty()) bad(name_, "a pattern needs a source operation");
  std::set<std::string> made, known, captured;
  for (const Node& n : source_) {
    op_def(n.op);  // a misspelled name is found now, not never
    for (const std::string& r : n.results)
      if (r != "_" && !r.empty() && !made.insert(r).second) bad(name_, "two source operations make \"{}\"", r);
    known.insert(n.operands.begin(), n.operands.end());
    for (const DrrAttr& a : n.attrs) {
      if (a.kind == DrrAttr::kUse || a.kind == DrrAttr::kCompute)
        bad(name_, "attribute \"{}\" of a source operation can't be computed", a.name);
      if (a.kind == DrrAttr::kCapture) captured.insert(a.captured);
    }
  }
  known.insert(made.begin(), made.end());
  known.erase("_");
  size_t outputs = 0;
  std::set<std::string> result_made;
  for (const Node& n : result_) {
    op_def(n.op);
    for (const std::string& o : n.operands)
      if (o == "_" || (!o.empty() && !known.count(o) && !result_made.count(o)))
        bad(name_, "result operand \"{}\" is not known", o);
    for (const std::string& r : n.results) {
      if (!result_made.insert(r).second && r != "_") bad(name_, "two result operations make \"{}\"", r);
      outputs += made.count(r);
    }
    for (const DrrAttr& a : n.attrs)
      if ((a.kind == DrrAttr::kUse || a.kind == DrrAttr::kCapture) && !captured.count(a.captured))
        bad(name_, "attribute \"{}\" is captured nowhere", a.captured);
  }
  for (auto& [from, to] : replaced_) {
    if (!made.count(from)) bad(name_, "no source operation makes \"{}\"", from);
    if (!known.count(to) && !result_made.count(to)) bad(name_, "value \"{}\" is not known", to);
    ++outputs;
  }
  if (outputs == 0) bad(name_, "the result replaces nothing of the source");
  // The anchor: the last source operation whose results no other one uses. From it, operands lead to the rest.
  size_t anchor = source_.size() - 1;
  for (size_t i = source_.size(); i-- > 0;) {
    bool used = false;
    for (const Node& n : source_)
      for (const std::string& o : n.operands)
        used |= !o.empty() && o != "_" && std::count(source_[i].results.begin(), source_[i].results.end(), o) > 0;
    if (used) continue;
    anchor = i;
    break;
  }
  // All must hang together, else a search would be over all pairs of operations.
  std::set<std::string> reached;
  std::set<size_t> nodes = {anchor};
  for (size_t before = 0; before != nodes.size();) {
    before = nodes.size();
    for (size_t i : nodes) {
      reached.insert(source_[i].operands.begin(), source_[i].operands.end());
      reached.insert(source_[i].results.begin(), source_[i].results.end());
    }
    reached.erase("_"), reached.erase("");
    for (size_t i = 0; i < source_.size(); ++i)
      for (const auto* names : {&source_[i].operands, &source_[i].results})
        for (const std::string& name : *names)
          if (reached.count(name)) nodes.insert(i);
  }
  if (nodes.size() != source_.size()) bad(name_, "the source pattern falls into parts that share no value");
  return std::make_unique<DrrPattern>(*this, anchor);
}

}  // namespace paddle::pir
