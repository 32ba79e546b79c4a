// Evaluator: makes the value of a node of the group at given indices, by recursion from result to operands.
#pragma once
#include <functional>
#include <map>

#include "cinn/compute/axes.h"
#include "cinn/compute/digits.h"
#include "cinn/loop/emitter.h"

namespace paddle::cinn {

using Binding = std::map<int, Index>;  // axis -> its index

class Evaluator {
 public:
  Evaluator(const Group& group, const Axes& axes, Module& module, Emitter& emitter)
      : group_(group), axes_(axes), m_(module), emit_(emitter), as_bfloat_(count_as_bfloat(group)) {}

  // The element of `node` at `where`; loads happen only where `predicate` (a bool value; -1: always) holds. The result
  // has the node's register type.
  ValueId eval(int node, const Binding& where, ValueId predicate = -1);

  // The same to be stored as the node's type: what a conversion to a 16-bit float is made of, since the store rounds.
  ValueId eval_to_store(int node, const Binding& where);

  // A value that is at hand already (an accumulator, scratch or temporary memory). Asked first; -1 if there is none.
  std::function<ValueId(int node, const Binding& where, ValueId predicate)> available;
  std::vector<int> input_buffers;  // by slot

  // A sum of exponentials below their largest operand: one of them is 1.
  bool is_at_least_one(int node) const;

  // Position of a node's element in row-major memory.
  Index offset(int node, const Binding& where);
  // Trip count of an axis; the last chunk of a cut axis may be short.
  Index trip_count(int axis, const Binding& where);
  ValueId identity(ReduceKind kind, DType dtype);

 private:
  ValueId compute(int node, const Binding& where, ValueId predicate);
  ValueId pointwise(int node, const std::vector<ValueId>& operands);
  int maximum_above(int node, const scalar::Instr& i) const;
  ValueId operand(int node, size_t k, const Binding& where, ValueId predicate);
  ValueId gather(int node, const Binding& where, ValueId predicate);
  ValueId take(int node, const Binding& where, ValueId predicate);
  Index row_index(ValueId row, const Index& extent);
  ValueId concat(int node, const Binding& where, ValueId predicate);
  ValueId pad(int node, const Binding& where, ValueId predicate);
  ValueId reduce_inline(int node, const Binding& where, ValueId predicate);
  ValueId within(const Index& index, const Index& low, const Index& high);  // low <= index < high
  ValueId both(ValueId a, ValueId b);
  Index dim_index(int node, size_t dim, const Binding& where);
  Binding bind(int node, const std::vector<Index>& dims);
  std::vector<Index> dim_indices(int node, const Binding& where);

  const Group& group_;
  const Axes& axes_;
  Module& m_;
  Emitter& emit_;
  std::vector<bool> as_bfloat_;  // by node: what counts as bfloat16
  std::map<std::tuple<int, std::vector<Index>, ValueId>, ValueId> known_;
};

}  // namespace paddle::cinn
