// The other way: lists as places, for files. See official_arrays.cc.
#include "api/ops.h"
#include "compile/official.h"
#include "compile/official_arrays.h"

namespace paddle::compile {
namespace {

using namespace arrays;

// -- to official Paddle

class Places {
 public:
  explicit Places(Trace& trace) : trace_(trace) {}

  void program(Block& b) {
    lists_ = sayable(b);
    block(b);
  }

 private:
  void block(Block& b) {
    for (Operation* op : b.ops()) operation(*op);
  }

  // A list that is overwritten must not be wanted afterwards, nor belong to the block around.
  static bool is_last(Operation& op, Value old) {
    Block* block = old.owner_block();
    if (block != op.block()) return false;
    for (Operation* user : old.users()) {
      while (user != &op && user->block() != block && user->parent_op()) user = user->parent_op();
      if (user != &op && (user->block() != block || !user->is_before(&op))) return false;
    }
    return true;
  }

  // The list that v is a later form of.
  static Value first_form(Value v) {
    while (Operation* op = v.defining_op()) {
      if (op->is("cf.array_write")) {
        v = op->operand(0);
      } else if (op->num_regions() == 1) {
        v = op->operand(v.index() + 1);
      } else {
        break;
      }
    }
    return v;
  }

  static bool sayable(Operation& op) {
    if (op.is("cf.array_write")) return is_last(op, op.operand(0));
    for (size_t k = 0; k < op.num_results(); ++k) {
      if (!is_array(op.result(k)) || op.is("cf.array_create")) continue;
      if (op.num_regions() != 1 || !is_last(op, op.operand(k + 1))) return false;
      Block& body = op.region(0).front();
      if (first_form(body.terminator()->operand(k + 1)) != body.arg(k)) return false;  // lists that change places
    }
    for (size_t r = 0; r < op.num_regions(); ++r)
      if (!op.region(r).empty() && !sayable(op.region(r).front())) return false;
    return true;
  }

  // Whether official Paddle's lists, which are places that are written, can stand for those of this program, which are
  // values.
  static bool sayable(Block& b) {
    for (Operation& op : b)
      if (!sayable(op)) return false;
    return true;
  }

  Value number(Operation& op, int64_t n) {
    pir::InsertionGuard guard(trace_.builder());
    trace_.builder().before(&op);
    return trace_.value_of(ops::full(Ints{1}, Scalar(n), DType::kInt64));
  }

  Value index(Operation& op, Value i) {  // int64 [1]
    pir::InsertionGuard guard(trace_.builder());
    trace_.builder().before(&op);
    return trace_.value_of(ops::reshape(ops::cast(trace_.tensor_of(i, true), DType::kInt64), Ints{1}));
  }

  void operation(Operation& op) {
    if (op.is("cf.assert")) {
      assertion(op);
    } else if (op.num_regions() > 0) {
      return regions(op);
    } else if (!lists_ || !list(op)) {
      return;
    }
    op.erase();
  }

  bool list(Operation& op) {
    if (op.is("cf.array_create")) {
      const Type type = op.result().type();
      Value array =
          one_before(op, "pd_op.create_array", {}, type, {{"dtype", Attribute::dtype(type.dtype())}})->result();
      for (size_t k = 0; k < op.num_operands(); ++k)
        one_before(op, "pd_op.array_write_", {array, op.operand(k), number(op, static_cast<int64_t>(k))}, type);
      op.result().replace_all_uses_with(array);
    } else if (op.is("cf.array_write")) {
      one_before(op, "pd_op.array_write_", {op.operand(0), op.operand(2), index(op, op.operand(1))},
                 op.result().type());
      op.result().replace_all_uses_with(op.operand(0));
    } else if (op.is("cf.array_read")) {
      Value item =
          one_before(op, "pd_op.array_read", {op.operand(0), index(op, op.operand(1))}, op.result().type())->result();
      op.result().replace_all_uses_with(item);
    } else if (op.is("cf.array_length")) {
      Value n = one_before(op, "pd_op.array_length", {op.operand(0)}, Type::tensor(DType::kInt64, {Dim(1)}))->result();
      pir::InsertionGuard guard(trace_.builder());
      trace_.builder().before(&op);
      op.result().replace_all_uses_with(trace_.value_of(ops::reshape(trace_.tensor_of(n, true), Ints{})));
    } else if (op.is("cf.array_stack") || op.is("cf.array_concat")) {
      const Type types[] = {op.result().type(), Type::tensor(DType::kInt32, {Dim(-1)})};
      const Value array[] = {op.operand(0)};
      pir::AttrMap attrs{{"axis", Attribute::i32(static_cast<int32_t>(op.attr("axis").as_int()))},
                         {"use_stack", Attribute::boolean(op.is("cf.array_stack"))}};
      op.result().replace_all_uses_with(before(op, "pd_op.array_to_tensor", array, types, std::move(attrs))->result());
    } else {
      return false;
    }
    return true;
  }

  // What it says stands beside what official Paddle reads.
  void assertion(Operation& op) {
    std::vector<Value> data;
    std::vector<Type> types;
    for (size_t k = 1; k < op.num_operands(); ++k) {
      data.push_back(op.operand(k));
      types.push_back(op.operand(k).type());
    }
    const Type list[] = {Type::vector(types)};
    const Value operands[] = {op.operand(0), before(op, "builtin.combine", data, list)->result()};
    before(op, "pd_op.assert", operands, {}, {{"summarize", Attribute::i64(-1)}, {"texts", op.attr("texts")}});
  }

  // What a loop carries, or branches yield, of lists becomes the one place that they all mean.
  void regions(Operation& op) {
    const bool loop = op.num_regions() == 1;
    for (size_t k = op.num_results(); lists_ && k-- > 0;) {
      if (!is_array(op.result(k))) continue;
      Value place = op.operand(k + 1);
      op.region(0).front().arg(k).replace_all_uses_with(place);
      op.result(k).replace_all_uses_with(place);
    }
    for (size_t r = 0; r < op.num_regions(); ++r)
      if (!op.region(r).empty()) block(op.region(r).front());
    if (loop && lists_) without_lists(op);
  }

  void without_lists(Operation& op) {
    std::vector<Value> operands{op.operand(0)}, results;
    std::vector<Type> types;
    Block& body = op.region(0).front();
    Operation* yield = body.terminator();
    std::vector<Value> yielded{yield->operand(0)};
    for (size_t k = 0; k < op.num_results(); ++k) {
      if (is_array(op.result(k))) continue;
      operands.push_back(op.operand(k + 1));
      yielded.push_back(yield->operand(k + 1));
      types.push_back(op.result(k).type());
      results.push_back(op.result(k));
    }
    if (types.size() == op.num_results()) return;
    yield->set_operands(yielded);
    for (size_t k = op.num_results(); k-- > 0;)
      if (is_array(op.result(k))) body.erase_arg(k);
    Operation* fresh = Operation::create(op.def(), operands, {}, types, 1, op.loc());
    op.block()->insert(&op, fresh);
    fresh->region(0).take_blocks(op.region(0));
    for (size_t k = 0; k < results.size(); ++k) {
      fresh->result(k).set_stop_gradient(results[k].stop_gradient());
      results[k].replace_all_uses_with(fresh->result(k));
    }
    op.erase();
  }

  Trace& trace_;
  bool lists_ = false;  // else they stay as they are, and only we read the file
};

}  // namespace

void arrays_to_official(pir::Program& program) {
  if (any(program, "cf.array_") || any(program, "cf.assert")) convert<Places>(program);
}

}  // namespace paddle::compile
