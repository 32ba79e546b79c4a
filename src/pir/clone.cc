#include "pir/clone.h"

namespace paddle::pir {

Operation* clone_op(const Operation& op, ValueMap& map) {
  std::vector<Value> operands;
  operands.reserve(op.num_operands());
  for (const OpOperand& o : op.op_operands()) operands.push_back(mapped(map, o.get()));
  std::vector<Type> types;
  types.reserve(op.num_results());
  for (size_t i = 0; i < op.num_results(); ++i) types.push_back(op.result(i).type());
  Operation* copy = Operation::create(op.def(), operands, op.attrs(), types, op.num_regions(), op.loc());
  for (size_t i = 0; i < op.num_results(); ++i) map[op.result(i)] = copy->result(i);
  for (size_t i = 0; i < op.num_regions(); ++i) clone_region(op.region(i), copy->region(i), map);
  return copy;
}

void clone_block(const Block& from, Block& to, ValueMap& map) {
  for (size_t i = 0; i < from.num_args(); ++i)
    if (!map.count(from.arg(i))) map[from.arg(i)] = to.add_arg(from.arg(i).type(), from.arg_attrs(i));
  for (Operation& op : from) to.push_back(clone_op(op, map));
  // An operand may be defined further down (graph regions): such ones still name the original.
  for (Operation& op : to)
    for (OpOperand& o : op.op_operands())
      if (Value v = mapped(map, o.get()); v != o.get()) o.set(v);
}

void clone_region(const Region& from, Region& to, ValueMap& map) {
  for (size_t i = 0; i < from.size(); ++i) clone_block(from.block(i), to.add_block(), map);
}

}  // namespace paddle::pir
