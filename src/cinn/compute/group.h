// Group: what one fused computation means, tensor by tensor. A small DAG in topological order, independent of PIR.
//
// Every node says how one element of it follows from elements of its operands, either by a scalar program (pointwise),
// by a combination over axes (reduce), or by an index map (broadcast, reshape, transpose, slice, gather, ...). Tensors
// are row-major and dense; sizes are constants or polynomials over the group's size symbols.
#pragma once
#include <string>
#include <vector>

#include "base/scalar.h"
#include "cinn/compute/index.h"
#include "tensor/dtype.h"

namespace paddle::cinn {

using Shape = std::vector<Index>;

enum class NodeKind : uint8_t {
  kInput,      // buffer `slot` of the inputs
  kConstant,   // `value` everywhere
  kSize,       // starts[0] everywhere: a number made of sizes
  kIota,       // the index along dimension `axis`
  kPointwise,  // scalar program over operands of the same shape
  kCast,       // explicit conversion: rounds to the result type
  kReduce,     // combines over `dims` of the operand, which the result lacks
  kBroadcast,  // result dimension i is operand dimension dims[i], or repeats where that is -1
  kReshape,
  kTranspose,  // result dimension i is operand dimension dims[i]
  kSlice,      // operand index = starts[i] + steps[i] * index
  kGather,     // operand 0 at row operand 1 along `axis`; result shape: data[:axis] + rows + data[axis + 1:]
  kTake,       // operand 0 at index operand 1 (of the result's shape) along `axis`, elsewhere at the result's own index
  kConcat,     // operands one after another along `axis`
  kPad,        // operand index = index - starts[i]; `value` outside
};

enum class ReduceKind : uint8_t { kSum, kProd, kMax, kMin, kAny, kAll };

struct Node {
  NodeKind kind;
  DType dtype = DType::kFloat32;
  Shape shape;
  std::vector<int> operands;
  // kPointwise
  std::vector<scalar::Instr> program;  // registers: operands, then params, then one per instruction
  std::vector<double> params;
  int result_register = 0;
  DType compute = DType::kFloat32;  // type that the program computes in: f32, f64, i32, i64 ... never 16-bit floats
  // others
  ReduceKind reduce = ReduceKind::kSum;
  std::vector<int> dims;
  std::vector<Index> starts, steps;
  int axis = 0;
  int slot = 0;
  double value = 0;
  int64_t integer = 0;          // kConstant of an integer type: the exact value
  bool combine_inline = false;  // kReduce: a short one, recomputed wherever it is needed (second half of a split)
};

class Group {
 public:
  IndexPool pool;
  std::vector<Node> nodes;
  std::vector<int> inputs;   // nodes, by slot
  std::vector<int> outputs;  // nodes, by slot

  Index symbol(int position) { return pool.symbol(position); }

  // Builders return the new node's number. NotImplementedError where sizes that must agree are not known to; other
  // wrong shapes are the caller's bug (InternalError).
  int input(DType dtype, Shape shape);
  int constant(DType dtype, double value, Shape shape = {});
  int constant_int(DType dtype, int64_t value, Shape shape = {});
  int size(DType dtype, const Index& value);
  int iota(DType dtype, Shape shape, int axis);
  // Operands are broadcast against each other as NumPy does. compute: kUndefined = compute_type(result dtype).
  int pointwise(const scalar::Program& program, std::vector<int> operands, std::vector<double> params, DType result,
                DType compute = DType::kUndefined, int output = 0);
  int pointwise(scalar::Fn fn, std::vector<int> operands, DType result, DType compute = DType::kUndefined);
  int cast(int x, DType dtype);
  int reduce(ReduceKind kind, int x, std::vector<int> dims, bool keepdim, DType dtype);
  int broadcast(int x, const Shape& shape);  // NumPy rules: aligned at the last dimension
  int reshape(int x, Shape shape);
  int transpose(int x, std::vector<int> perm);
  int slice(int x, std::vector<Index> starts, std::vector<Index> steps, Shape shape);
  int gather(int data, int rows, int axis);
  int take(int data, int index, int axis);
  int concat(std::vector<int> parts, int axis);
  int pad(int x, std::vector<Index> before, Shape shape, double value);
  void output(int node) { outputs.push_back(node); }

  const Shape& shape(int node) const { return nodes[node].shape; }
  std::string str() const;

 private:
  int add(Node node);
};

Index element_count(const Shape& shape);
// The type that arithmetic on t happens in: 16-bit floats in f32, bool in i32, others themselves.
DType compute_type(DType t);
std::string_view name_of(NodeKind kind);
std::string_view name_of(ReduceKind kind);

}  // namespace paddle::cinn
