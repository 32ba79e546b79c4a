// Layout: connected convolutions, pooling and what is computed element by element between them run with channels last,
// where convolutions need no reordering of their own. Only the values at the border are transposed.
#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "passes/match.h"
#include "passes/passes.h"
#include "pir/builder.h"
#include "spmd/factor_rule.h"

namespace paddle::passes {

using pir::Attribute;
using pir::Operation;
using pir::Value;

namespace {

constexpr int64_t kToLast[] = {0, 2, 3, 1}, kToFirst[] = {0, 3, 1, 2};
constexpr int64_t kAxisInLast[] = {0, 3, 1, 2};  // where an axis of NCHW is in NHWC

// How an operation takes part.
enum class Role {
  kNone,
  kLayout,     // its record says which argument names the layout, and which tensors have it
  kPointwise,  // of images, numbers, and numbers per channel
  kReduction,  // over known axes
  kAlong,      // images to an image, axis by axis, one of which an argument names: concat, cumsum
};

bool is_image(Value v) { return v && v.type().is_tensor() && v.shape().size() == 4; }

bool one_number(Value v) {
  if (!static_shape(v)) return false;
  return std::all_of(v.shape().begin(), v.shape().end(), [](Dim d) { return d == Dim(1); });
}

bool pointwise_takes_part(const Operation& op) {
  if (op.num_results() != 1 || !is_image(op.result()) || op.attr("axis") || op.attr("data_format")) return false;
  bool any = false;
  for (Value v : op.operands()) {
    if (!v) continue;
    if (!v.type().is_tensor()) return false;
    const bool image = v.shape() == op.result().shape();
    any |= image;
    if (!image && !one_number(v) && !along_axis(v, 1, 4, op.result().shape()[1])) return false;
  }
  return any;
}

std::vector<int64_t> reduced_axes(const Operation& op) {
  std::vector<int64_t> out;
  auto axes = known_ints(op, "axis");
  if (!axes) return out;
  if (Attribute all = op.attr("reduce_all"); all && all.as_bool()) return out;
  for (int64_t a : *axes) out.push_back(a < 0 ? a + 4 : a);
  for (int64_t a : out)
    if (a < 0 || a > 3) return {};
  return out;
}

// The axes that a reduction leaves stand in the same order in both layouts, or all stay.
bool reduction_takes_part(const Operation& op) {
  if (op.num_results() != 1 || !is_image(op.operand(0))) return false;
  const std::vector<int64_t> axes = reduced_axes(op);
  if (axes.empty()) return false;
  if (is_image(op.result())) return true;
  auto has = [&](int64_t a) { return std::find(axes.begin(), axes.end(), a) != axes.end(); };
  return has(1) || (has(2) && has(3));
}

// The argument that names an axis, where the sharding rule says that all others correspond one to one, from every
// tensor to the result: "[i...] -> i...; whole i(axis)". Empty if it isn't so.
std::string_view axis_argument(const OpInfo& info) {
  static std::mutex mutex;
  static std::unordered_map<const OpInfo*, std::string> known;
  std::lock_guard lock(mutex);
  auto [it, fresh] = known.try_emplace(&info);
  if (!fresh || info.spmd.empty()) return it->second;
  const spmd::FactorRule rule = spmd::FactorRule::parse(info.spmd);
  if (rule.bindings.size() != 1 || rule.bindings[0].range != spmd::RuleBinding::kAxes) return it->second;
  auto whole = [&](const spmd::RuleTerm& t) {
    return t.ellipsis && t.swap_flag.empty() && t.after.empty() && t.before.size() == 1 &&
           t.before[0].factors == std::string(1, rule.bindings[0].factor);
  };
  if (std::all_of(rule.inputs.begin(), rule.inputs.end(), whole) &&
      std::all_of(rule.outputs.begin(), rule.outputs.end(), whole))
    it->second = rule.bindings[0].attr;
  return it->second;
}

// Which axis that is here; -1 if it isn't known to be one.
int64_t axis_along(const Operation& op) {
  const std::string_view name = axis_argument(*op.info());
  if (name.empty()) return -1;
  Attribute a = op.attr(name);
  if (!a && op.def().operand_index(name) >= 0) a = pir::known_value(op.operand(name));
  if (a.kind() == pir::AttrKind::kScalar) a = a.inner();
  if (a.kind() != pir::AttrKind::kInt64 && a.kind() != pir::AttrKind::kInt32) return -1;
  const int64_t axis = a.as_int() < 0 ? a.as_int() + 4 : a.as_int();
  return axis >= 0 && axis < 4 ? axis : -1;
}

// The images that such an operator reads: tensors, or one list of them.
std::vector<Value> images_along(const Operation& op) {
  if (Operation* list = made_by(op.operand(0), "builtin.combine")) return list->operands();
  std::vector<Value> out;
  for (size_t k = 0; k < op.num_operands(); ++k)
    if (op.def().operands[k].name != axis_argument(*op.info())) out.push_back(op.operand(k));
  return out;
}

bool along_takes_part(const Operation& op) {
  if (op.num_results() != 1 || !is_image(op.result()) || axis_along(op) < 0) return false;
  const std::vector<Value> all = images_along(op);
  return !all.empty() && std::all_of(all.begin(), all.end(), is_image);
}

bool layout_takes_part(const Operation& op) {
  const DType t = op.operand(0).dtype();
  const auto paddings = known_ints(op, "paddings");
  return op.num_results() == 1 && layout_of(op) == "NCHW" && is_image(op.operand(0)) && is_image(op.result()) &&
         paddings && paddings->size() <= 4 && (t == DType::kFloat32 || t == DType::kBFloat16 || t == DType::kFloat16);
}

Role role_of(const Operation& op) {
  if (op.num_regions() || op.num_operands() == 0 || op.has(pir::kDistinct) || !op.info()) return Role::kNone;
  if (!layout_of(op).empty()) return layout_takes_part(op) ? Role::kLayout : Role::kNone;
  if (!axis_argument(*op.info()).empty()) return along_takes_part(op) ? Role::kAlong : Role::kNone;
  if (op.has(kReduction)) return reduction_takes_part(op) ? Role::kReduction : Role::kNone;
  if (op.has(kElementwise | kBroadcast) && !op.has(kView | kInplaceOnly | kRandom))
    return pointwise_takes_part(op) ? Role::kPointwise : Role::kNone;
  return Role::kNone;
}

// Does the record say that this operand has the layout?
bool has_layout(const Operation& op, size_t operand) {
  const OpInfo& info = *op.info();
  for (size_t i = 0; i < info.args.size(); ++i)
    if (pass_info(info).follows_layout >> i & 1 && info.args[i].name == op.def().operands[operand].name) return true;
  return false;
}

// Which operands are images of the layout.
bool follows_layout(const Operation& op, Role role, size_t operand) {
  const Value v = op.operand(operand);
  switch (role) {
    case Role::kLayout:
      return v && has_layout(op, operand);
    case Role::kPointwise:
      return v && v.shape() == op.result().shape();
    case Role::kReduction:
      return operand == 0;
    default:
      return false;
  }
}

double bytes_of(Value v) {
  double n = static_cast<double>(size_of(v.dtype()));
  for (Dim d : v.shape()) n *= static_cast<double>(d.hint());
  return n;
}

// With a kernel for channels first that needs no reordering (Winograd's).
bool runs_plain(const Operation& op) {
  const Value w = op.operand(1);
  if (!static_shape(w) || op.operand(0).dtype() != DType::kFloat32) return false;
  const auto strides = known_ints(op, "strides"), dilations = known_ints(op, "dilations");
  const bool three = w.shape()[2] == Dim(3) && w.shape()[3] == Dim(3);
  return three && op.attr("groups").as_int() == 1 && strides == std::vector<int64_t>{1, 1} &&
         dilations == std::vector<int64_t>{1, 1};
}

// Each channel on its own: the kernel for that wants channels first.
bool by_channel(const Operation& op) {
  return op.attr("groups").as_int() > 1 && op.operand(0).shape()[1] == Dim(op.attr("groups").as_int());
}

class Layout {
 public:
  explicit Layout(pir::Block& block) : block_(block) {}

  size_t run() {
    for (Operation* op : block_.ops())
      if (Role r = role_of(*op); r != Role::kNone) {
        roles_[op] = r;
        parent_[op] = op;
      }
    for (auto& [op, role] : roles_)
      for (const Value v : images(*op))
        if (v.is_result() && roles_.count(v.defining_op()) && is_image(v)) unite(op, v.defining_op());
    weigh();
    size_t n = 0;
    for (Operation* op : block_.ops())
      if (roles_.count(op) && chosen(op)) n += rewrite(*op);
    return n;
  }

 private:
  struct Island {
    size_t convolutions = 0;
    double border = 0;     // bytes to transpose
    double reordered = 0;  // bytes that kernels reorder as it is
    double convolved = 0;  // bytes that convolutions read and write
  };

  std::vector<Value> images(Operation& op) const {
    std::vector<Value> out;
    if (roles_.at(&op) == Role::kAlong) return images_along(op);
    for (size_t k = 0; k < op.num_operands(); ++k)
      if (op.operand(k) && follows_layout(op, roles_.at(&op), k)) out.push_back(op.operand(k));
    return out;
  }

  Operation* root(Operation* op) {
    while (parent_[op] != op) op = parent_[op] = parent_[parent_[op]];
    return op;
  }
  void unite(Operation* a, Operation* b) { parent_[root(a)] = root(b); }
  bool inside(Value v) { return v.is_result() && roles_.count(v.defining_op()); }

  void weigh() {
    for (auto& [op, role] : roles_) {
      Island& island = islands_[root(op)];
      for (const Value v : images(*op))
        if (!inside(v)) borders_[{root(op), v}] = bytes_of(v);
      if (is_image(op->result()))
        for (Operation* user : op->result().users())
          if (!reads_layout(*user, op->result())) borders_[{root(op), op->result()}] = bytes_of(op->result());
      if (!is_convolution(*op)) continue;
      ++island.convolutions;
      const double bytes = bytes_of(op->operand(0)) + bytes_of(op->result());
      island.convolved += bytes;
      if (by_channel(*op)) island.border += 2 * bytes;
      if (!runs_plain(*op)) island.reordered += bytes;
    }
    for (auto& [key, bytes] : borders_) islands_[key.first].border += bytes;
  }
  // Is this use inside of an island?
  bool reads_layout(Operation& user, Value v) {
    if (user.is("builtin.combine")) {
      const std::vector<Operation*> readers = user.result().users();
      return std::all_of(readers.begin(), readers.end(), [&](Operation* r) { return roles_.count(r) > 0; });
    }
    if (!roles_.count(&user)) return false;
    const std::vector<Value> all = images(user);
    return std::find(all.begin(), all.end(), v) != all.end();
  }

  bool chosen(Operation* op) {
    const Island& i = islands_.at(root(op));
    return i.convolutions > 0 && i.border <= i.reordered + 0.1 * i.convolved;
  }

  // ---- rewriting

  Value transposed(Value v, std::span<const int64_t> perm) {
    const Value t = b_.value("pd_op.transpose", {v}, {{"perm", Attribute::i32s(perm)}});
    t.set_stop_gradient(v.stop_gradient());
    return t;
  }

  Value last(Value v) {
    auto [it, fresh] = last_.try_emplace(v);
    if (fresh) it->second = transposed(v, kToLast);
    return it->second;
  }

  // A number per channel stands along the last axis.
  Value broadcast_operand(Value v) {
    if (!v || one_number(v) || v.shape().empty()) return v;
    std::vector<int64_t> shape(4, 1);
    shape[3] = -1;
    return b_.value("pd_op.reshape", {v, b_.full_int_array(shape)});
  }

  std::vector<Value> operands_of(Operation& op, Role role) {
    std::vector<Value> out = op.operands();
    if (role == Role::kAlong) {
      const int axis = op.def().operand_index(axis_argument(*op.info()));
      std::vector<Value> items;
      for (Value v : images_along(op)) items.push_back(last(v));
      if (op.operand(0).type().is_vector()) items = {b_.combine(items)};
      for (size_t k = 0, next = 0; k < out.size(); ++k)
        out[k] = static_cast<int>(k) != axis
                     ? items[next++]
                     : b_.full({Dim(1)}, static_cast<double>(kAxisInLast[axis_along(op)]), out[k].dtype());
      return out;
    }
    for (size_t k = 0; k < out.size(); ++k) {
      if (out[k] && follows_layout(op, role, k))
        out[k] = last(out[k]);
      else if (role == Role::kPointwise)
        out[k] = broadcast_operand(out[k]);
    }
    if (role == Role::kReduction && op.def().operand_index("axis") >= 0) {
      std::vector<int64_t> axes = reduced_axes(op);
      for (int64_t& a : axes) a = kAxisInLast[a];
      out[static_cast<size_t>(op.def().operand_index("axis"))] = b_.full_int_array(axes);
    }
    return out;
  }

  bool rewrite(Operation& op) {
    const Role role = roles_.at(&op);
    b_.before(&op);
    b_.set_loc(pir::Location::derived("channels_last", op.loc()));
    const std::vector<Value> operands = operands_of(op, role);
    pir::AttrMap attrs = op.attrs();
    attrs.erase("stop_gradient");
    if (role == Role::kLayout) attrs.set(layout_argument(op), Attribute::string("NHWC"));
    if (role == Role::kAlong)
      if (const std::string_view name = axis_argument(*op.info()); op.attr(name)) {
        const bool wide = op.attr(name).kind() == pir::AttrKind::kInt64;
        const int64_t axis = kAxisInLast[axis_along(op)];
        attrs.set(name, wide ? Attribute::i64(axis) : Attribute::i32(static_cast<int32_t>(axis)));
      }
    if (role == Role::kReduction && op.attr("axis")) {
      std::vector<int64_t> axes = reduced_axes(op);
      for (int64_t& a : axes) a = kAxisInLast[a];
      attrs.set("axis", op.attr("axis").kind() == pir::AttrKind::kIntArray
                            ? Attribute::ints(view(Shape(axes.begin(), axes.end())))
                            : Attribute::i64s(axes));
    }
    const Value old = op.result(), out = b_.create(op.def(), operands, std::move(attrs))->result();
    out.set_stop_gradient(old.stop_gradient());
    if (!is_image(old)) {
      old.replace_all_uses_with(out);
      return true;
    }
    last_[old] = out;
    bool outside = false;
    for (Operation* user : old.users()) outside |= !reads_layout(*user, old) || !taken(*user);
    if (outside) {
      const Value first = transposed(out, kToFirst);
      first.set_type(old.type());
      old.replace_uses_if(
          first, [&](pir::OpOperand& use) { return !reads_layout(*use.owner(), old) || !taken(*use.owner()); });
    }
    return true;
  }
  bool taken(Operation& user) {
    if (!user.is("builtin.combine")) return roles_.count(&user) && chosen(&user);
    for (Operation* r : user.result().users())
      if (!roles_.count(r) || !chosen(r)) return false;
    return true;
  }

  pir::Block& block_;
  pir::Builder b_;
  std::unordered_map<Operation*, Role> roles_;
  std::unordered_map<Operation*, Operation*> parent_;
  std::unordered_map<Operation*, Island> islands_;
  struct Hash {
    size_t operator()(const std::pair<Operation*, Value>& k) const {
      return std::hash<Operation*>()(k.first) * 31 + std::hash<Value>()(k.second);
    }
  };
  std::unordered_map<std::pair<Operation*, Value>, double, Hash> borders_;
  std::unordered_map<Value, Value> last_;  // by the value with channels first
};

}  // namespace

size_t channels_last(Operation& root) {
  std::vector<pir::Block*> blocks;
  root.walk([&](Operation& op) {
    for (size_t r = 0; r < op.num_regions(); ++r)
      for (size_t k = 0; k < op.region(r).size(); ++k) blocks.push_back(&op.region(r).block(k));
  });
  size_t n = 0;
  for (pir::Block* b : blocks) n += Layout(*b).run();
  if (n) remove_dead_code(root);  // what was rewritten still stands there
  return n;
}

}  // namespace paddle::passes
