#include "pir/op_def.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "base/error.h"
#include "pir/dialects.h"
#include "pir/op_args.h"

namespace paddle::pir {

class Registry {
 public:
  static Registry& get() {
    static Registry* r = [] {
      auto* fresh = new Registry;
      for (OpDef& d : builtin_dialects()) fresh->add(std::move(d));
      return fresh;
    }();
    return *r;
  }

  const OpDef& add(OpDef def) {
    std::unique_lock lock(mutex_);
    return add_locked(std::move(def));
  }

  OpDef* find(std::string_view name) {
    std::shared_lock lock(mutex_);
    auto it = by_name_.find(name);
    return it == by_name_.end() ? nullptr : it->second;
  }

  // Links a record to an operation described by hand, or derives the table from the record.
  OpDef* add_record(const OpInfo& info, const std::string& name) {
    std::unique_lock lock(mutex_);
    auto it = by_name_.find(name);
    if (it == by_name_.end()) return &add_locked(def_of(info, name));
    if (!it->second->info) it->second->info = &info;
    return it->second;
  }

  void attach(OpDef& def, InterfaceId id, const void* table) {
    std::unique_lock lock(mutex_);
    for (auto& [known, old] : def.interfaces_)
      if (known == id) {
        old = table;
        return;
      }
    def.interfaces_.emplace_back(id, table);
  }
  const void* interface(const OpDef& def, InterfaceId id) {
    std::shared_lock lock(mutex_);
    for (auto& [known, table] : def.interfaces_)
      if (known == id) return table;
    return nullptr;
  }

  std::vector<std::string> names() {
    std::shared_lock lock(mutex_);
    std::vector<std::string> r;
    for (auto& d : defs_) r.push_back(d.name);
    return r;
  }

 private:
  static OpDef def_of(const OpInfo& info, const std::string& name);

  OpDef& add_locked(OpDef def) {
    auto it = by_name_.find(def.name);
    if (it != by_name_.end()) {
      const OpDef& old = *it->second;
      if (old.operands.size() != def.operands.size() || old.attrs.size() != def.attrs.size() ||
          old.results.size() != def.results.size())
        throw InternalError("operation " + def.name + " is registered twice, in different forms");
      return *it->second;
    }
    PD_INVARIANT(def.name.size() > def.dialect.size() + 1 && def.name.starts_with(def.dialect + "."));
    defs_.push_back(std::move(def));
    by_name_.emplace(defs_.back().name, &defs_.back());
    return defs_.back();
  }

  std::shared_mutex mutex_;
  std::deque<OpDef> defs_;  // addresses stay valid
  std::unordered_map<std::string_view, OpDef*> by_name_;
};

namespace {

std::vector<AttrKind> kinds_of(ArgKind kind) {
  using K = AttrKind;
  switch (kind) {
    case ArgKind::kInt:
    case ArgKind::kOptInt:
      return {K::kInt32, K::kInt64, K::kDim};
    case ArgKind::kFloat:
    case ArgKind::kOptFloat:
      return {K::kFloat, K::kDouble};
    case ArgKind::kBool:
    case ArgKind::kOptBool:
      return {K::kBool};
    case ArgKind::kString:
      return {K::kString};
    case ArgKind::kDType:
    case ArgKind::kOptDType:
      return {K::kDType};
    case ArgKind::kPlace:
      return {K::kPlace};
    case ArgKind::kScalar:
      return {K::kScalar, K::kBool,      K::kInt32,      K::kInt64, K::kFloat,
              K::kDouble, K::kComplex64, K::kComplex128, K::kDim};
    case ArgKind::kInts:
    case ArgKind::kIntList:
      return {K::kIntArray, K::kArray};
    case ArgKind::kFloatList:
    case ArgKind::kBoolList:
    case ArgKind::kStringList:
    case ArgKind::kScalarList:
      return {K::kArray};
    default:
      return {};
  }
}

bool may_be_absent(ArgKind k) {
  return k == ArgKind::kOptInt || k == ArgKind::kOptFloat || k == ArgKind::kOptBool || k == ArgKind::kOptDType;
}

size_t distance(std::string_view a, std::string_view b) {  // Levenshtein
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t old = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = old;
    }
  }
  return row[b.size()];
}

}  // namespace

OpDef Registry::def_of(const OpInfo& info, const std::string& name) {
  OpDef d;
  d.name = name;
  d.dialect = "pd_op";
  d.info = &info;
  d.traits = info.traits;
  if (name.ends_with('_') && !info.name.ends_with('_')) d.traits |= kInplaceForm;
  d.infer = &infer_record_types;
  std::vector<uint8_t> order(info.pir_order.begin(), info.pir_order.end());
  if (order.empty())
    for (size_t i = 0; i < info.args.size(); ++i) order.push_back(static_cast<uint8_t>(i));
  for (uint8_t i : order) {
    const ArgInfo& a = info.args[i];
    std::string arg_name(a.pir_name.empty() ? a.name : a.pir_name);
    if (is_operand(a)) {
      bool list = a.kind == ArgKind::kTensors || a.kind == ArgKind::kOptTensors;
      bool optional = a.kind == ArgKind::kOptTensor || a.kind == ArgKind::kOptTensors;
      d.operands.push_back({arg_name, optional, list, false, i});
    } else {
      d.attrs.push_back(
          {arg_name, !a.has_default && !may_be_absent(a.kind), kinds_of(a.kind), i, default_attribute(a)});
    }
  }
  for (const OutInfo& o : info.outs)
    d.results.push_back({std::string(o.name), o.kind == ArgKind::kOptTensor, o.kind == ArgKind::kTensors, false});
  return d;
}

void OpDef::fill_defaults(AttrMap& attrs) const {
  for (const AttrDef& a : this->attrs)
    if (a.default_value && !attrs.has(a.name)) attrs.set(Name(a.name), a.default_value);
}

int OpDef::operand_index(std::string_view operand) const {
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i].name == operand) return static_cast<int>(i);
  return -1;
}

const AttrDef* OpDef::attr(std::string_view attr_name) const {
  for (const AttrDef& a : attrs)
    if (a.name == attr_name) return &a;
  return nullptr;
}

const void* OpDef::find_interface(InterfaceId id) const { return Registry::get().interface(*this, id); }

const OpDef& register_op(OpDef def) { return Registry::get().add(std::move(def)); }

void register_ops(std::span<const OpInfo> records) {
  for (const OpInfo& info : records) Registry::get().add_record(info, "pd_op." + std::string(info.name));
}

void attach_interface(std::string_view op_name, InterfaceId id, const void* table) {
  Registry::get().attach(const_cast<OpDef&>(op_def(op_name)), id, table);
}

namespace {
std::atomic<const OpInfo* (*)(std::string_view)> find_record = nullptr;
std::atomic<std::span<const OpInfo> (*)()> all_records = nullptr;

OpDef* find_or_add(std::string_view name) {
  if (OpDef* d = Registry::get().find(name)) return d;
  auto find = find_record.load();
  const OpInfo* info = find && name.starts_with("pd_op.") ? find(name.substr(6)) : nullptr;
  return info ? Registry::get().add_record(*info, std::string(name)) : nullptr;
}
}  // namespace

void set_record_source(const OpInfo* (*find)(std::string_view), std::span<const OpInfo> (*all)()) {
  find_record = find;
  all_records = all;
}

const OpDef* find_op_def(std::string_view name) {
  if (const OpDef* d = find_or_add(name)) return d;
  // "pd_op.relu_" is the in-place spelling of "pd_op.relu"; it has the same record.
  if (!name.ends_with('_') || !name.starts_with("pd_op.")) return nullptr;
  const OpDef* base = find_or_add(name.substr(0, name.size() - 1));
  return base && base->info ? Registry::get().add_record(*base->info, std::string(name)) : nullptr;
}

const OpDef& op_def(std::string_view name) {
  if (const OpDef* d = find_op_def(name)) return *d;
  std::string near;
  size_t best = 3;
  for (const std::string& n : registered_ops())
    if (size_t d = distance(n, name); d < best) {
      best = d;
      near = n;
    }
  fail(ErrorKind::kNotImplemented, "there is no operation named \"{}\"{}", name,
       near.empty() ? "" : "; the nearest name is \"" + near + "\"");
}

const OpDef& op_def(const OpInfo& info) {
  std::string name = "pd_op." + std::string(info.name);
  return *Registry::get().add_record(info, name);
}

std::vector<std::string> registered_ops() {
  std::vector<std::string> names = Registry::get().names();
  if (auto all = all_records.load())
    for (const OpInfo& info : all()) names.push_back("pd_op." + std::string(info.name));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace paddle::pir
