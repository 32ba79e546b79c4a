// Lists of tensors, and assertions. In official Paddle's programs an array is a place that operators write to; here a
// list is a value, and who changes one makes another. So a loop that writes to an array carries it from round to round
// here, and doesn't there.
#include "compile/official_arrays.h"
#include "api/ops.h"
#include "compile/official.h"

namespace paddle::compile {
namespace {

using namespace arrays;

[[maybe_unused]] const bool registered = [] {
  auto add = [](const char* name, std::vector<const char*> operands, std::vector<pir::AttrDef> attrs,
                std::vector<const char*> results, uint64_t traits) {
    pir::OpDef d;
    d.name = name;
    d.dialect = "pd_op";
    for (const char* n : operands) d.operands.push_back({n, false, false, false, -1});
    for (const char* n : results) d.results.push_back({n, false, false, false});
    d.attrs = std::move(attrs);
    d.traits = traits;
    pir::register_op(std::move(d));
  };
  const pir::AttrDef dtype{"dtype", true, {AttrKind::kDType}, -1, {}};
  const pir::AttrDef axis{"axis", true, {AttrKind::kInt32, AttrKind::kInt64}, -1, {}};
  const pir::AttrDef stacks{"use_stack", true, {AttrKind::kBool}, -1, {}};
  add("pd_op.create_array", {}, {dtype}, {"out"}, kSideEffect);
  add("pd_op.array_write_", {"array", "x", "i"}, {}, {"out"}, kSideEffect);
  add("pd_op.array_read", {"array", "i"}, {}, {"out"}, kSideEffect);
  add("pd_op.array_length", {"x"}, {}, {"out"}, kSideEffect);
  add("pd_op.array_to_tensor", {"x"}, {axis, stacks}, {"out", "out_index"}, kSideEffect);
  add("pd_op.assert", {"cond", "data"}, {{"summarize", true, {AttrKind::kInt32, AttrKind::kInt64}, -1, {}}}, {},
      kSideEffect);
  return true;
}();

// A control-flow operation like `op`, with more operands and results; the regions move over.
Operation* widened(Operation& op, const std::vector<Value>& more_operands, const std::vector<Type>& more_results) {
  std::vector<Value> operands = op.operands();
  operands.insert(operands.end(), more_operands.begin(), more_operands.end());
  std::vector<Type> types;
  for (Value v : op.results_vector()) types.push_back(v.type());
  types.insert(types.end(), more_results.begin(), more_results.end());
  pir::AttrMap attrs = op.attrs();
  // Facts about results are lists with one item each.
  if (Attribute stops = op.attr("stop_gradient");
      stops.kind() == AttrKind::kArray && stops.items().size() == op.num_results()) {
    std::vector<Attribute> items(stops.items().begin(), stops.items().end());
    items.resize(types.size(), Attribute::boolean(false));
    attrs.set("stop_gradient", Attribute::array(items));
  }
  Operation* fresh = Operation::create(op.def(), operands, std::move(attrs), types, op.num_regions(), op.loc());
  op.block()->insert(&op, fresh);
  for (size_t r = 0; r < op.num_regions(); ++r) fresh->region(r).take_blocks(op.region(r));
  for (size_t i = 0; i < op.num_results(); ++i) op.result(i).replace_all_uses_with(fresh->result(i));
  op.erase();
  return fresh;
}

class Values {
 public:
  explicit Values(Trace& trace) : trace_(trace) {}

  void program(Block& b) { block(b); }

 private:
  void block(Block& b) {
    for (Operation* op : b.ops()) operation(*op);
  }

  Value& now(Value array) {
    auto at = now_.find(array);
    check(at != now_.end(), ErrorKind::kNotImplemented, "[jit.load] an array that isn't made by create_array");
    return at->second;
  }

  void operation(Operation& op) {
    if (op.is("pd_op.create_array")) {
      Value fresh = one_before(op, "cf.array_create", {}, op.result().type())->result();
      op.result().replace_all_uses_with(fresh);
      now_[fresh] = fresh;
    } else if (op.is("pd_op.array_write_")) {
      Value array = op.operand(0);
      Value& latest = now(array);
      latest = one_before(op, "cf.array_write", {latest, op.operand(2), op.operand(1)}, array.type())->result();
      op.result().replace_all_uses_with(array);
    } else if (op.is("pd_op.array_read")) {
      // Official Paddle's rule doesn't know the items' rank.
      Type array = op.operand(0).type();
      Value item = one_before(op, "cf.array_read", {now(op.operand(0)), op.operand(1)},
                              Type::tensor(array.dtype(), array.shape()))
                       ->result();
      op.result().replace_all_uses_with(item);
    } else if (op.is("pd_op.array_length")) {
      replace_length(op);
    } else if (op.is("pd_op.array_to_tensor")) {
      joined(op);
    } else if (op.is("pd_op.assert")) {
      Value data = op.operand(1);
      Operation* list = data && data.is_result() ? data.defining_op() : nullptr;
      std::vector<Value> operands{op.operand(0)};
      const std::string unnamed[] = {"assertion of the program failed"};
      if (list && list->is("builtin.combine"))
        for (Value v : list->operands()) operands.push_back(v);
      before(op, "cf.assert", operands, {},
             {{"texts", op.attr("texts") ? op.attr("texts") : Attribute::strings(unnamed)}});
    } else if (op.num_regions() == 1) {
      return loop(op);
    } else if (op.num_regions() == 2) {
      return branches(op);
    } else {
      for (size_t i = 0; i < op.num_operands(); ++i)
        if (is_array(op.operand(i))) op.set_operand(i, now(op.operand(i)));
      return;
    }
    op.erase();
  }

  void replace_length(Operation& op) {
    Value n = one_before(op, "cf.array_length", {now(op.operand(0))}, Type::tensor(DType::kInt64, {}))->result();
    pir::InsertionGuard guard(trace_.builder());
    trace_.builder().before(&op);
    Tensor flat = ops::reshape(trace_.tensor_of(n, true), Ints{1});
    op.result().replace_all_uses_with(trace_.value_of(flat));
  }

  void joined(Operation& op) {
    check(op.result(1).use_empty(), ErrorKind::kNotImplemented, "[jit.load] {}: the items' sizes are not computed",
          op.describe());
    const bool stack = op.attr("use_stack").as_bool();
    int64_t axis = op.attr("axis").as_int();
    Shape shape = op.operand(0).type().shape();
    const int64_t rank = static_cast<int64_t>(shape.size()) + (stack ? 1 : 0);
    if (axis < 0) axis += rank;
    check(axis >= 0 && axis < rank, ErrorKind::kValue, "[jit.load] {}: expected axis below {}, got {}", op.describe(),
          rank, axis);
    if (stack)
      shape.insert(static_cast<size_t>(axis), Dim(-1));
    else
      shape[static_cast<size_t>(axis)] = Dim(-1);
    Value whole = one_before(op, stack ? "cf.array_stack" : "cf.array_concat", {now(op.operand(0))},
                             Type::tensor(op.operand(0).type().dtype(), shape), {{"axis", Attribute::i64(axis)}})
                      ->result();
    op.result(0).replace_all_uses_with(whole);
  }

  // The arrays from outside that something inside writes to.
  std::vector<Value> written_in(Operation& op) const {
    std::vector<Value> found;
    op.walk([&](Operation& inner) {
      if (!inner.is("pd_op.array_write_") || !now_.count(inner.operand(0))) return;
      if (std::find(found.begin(), found.end(), inner.operand(0)) == found.end()) found.push_back(inner.operand(0));
    });
    return found;
  }

  void loop(Operation& op) {
    const std::vector<Value> arrays = written_in(op);
    std::vector<Value> enter;
    std::vector<Type> types;
    for (Value a : arrays) {
      enter.push_back(now(a));
      types.push_back(a.type());
    }
    const size_t first = op.num_results();
    Operation* fresh = arrays.empty() ? &op : widened(op, enter, types);
    Block& body = fresh->region(0).front();
    for (Value a : arrays) now(a) = body.add_arg(a.type());
    block(body);
    for (size_t k = 0; k < arrays.size(); ++k) {
      body.terminator()->append_operand(now(arrays[k]));
      now(arrays[k]) = fresh->result(first + k);
    }
  }

  void branches(Operation& op) {
    const std::vector<Value> arrays = written_in(op);
    std::vector<Type> types;
    for (Value a : arrays) types.push_back(a.type());
    const size_t first = op.num_results();
    Operation* fresh = arrays.empty() ? &op : widened(op, {}, types);
    const auto at_entry = now_;
    for (size_t r = 0; r < 2; ++r) {
      now_ = at_entry;
      if (fresh->region(r).empty()) {
        check(arrays.empty(), ErrorKind::kNotImplemented, "[jit.load] {}: an array is written in one branch only",
              fresh->describe());
        continue;
      }
      Block& inner = fresh->region(r).front();
      block(inner);
      for (Value a : arrays) inner.terminator()->append_operand(now(a));
    }
    now_ = at_entry;
    for (size_t k = 0; k < arrays.size(); ++k) now(arrays[k]) = fresh->result(first + k);
  }

  Trace& trace_;
  std::unordered_map<Value, Value> now_;  // an array, as official Paddle names it -> the list that it is by now
};

}  // namespace

void arrays_from_official(pir::Program& program) {
  if (any(program, "pd_op.create_array") || any(program, "pd_op.assert")) convert<Values>(program);
}

}  // namespace paddle::compile
