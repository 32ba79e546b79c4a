// Python objects as the arguments of an operator, by the kinds in its record.
#pragma once
#include <forward_list>
#include <memory>
#include <string>
#include <vector>

#include "api/op_call.h"
#include "bindings/py.h"

namespace paddle::bindings {

// Owners of converted arguments, for the time of one call.
struct Arena {
  std::forward_list<Tensor> tensors;
  std::forward_list<Tensors> lists;
  std::forward_list<Scalar> scalars;
  std::forward_list<Ints> ints;
  std::forward_list<std::string> strings;
  std::forward_list<std::vector<int64_t>> int_lists;
  std::forward_list<std::vector<double>> float_lists;
  std::forward_list<std::unique_ptr<bool[]>> bool_lists;
  std::forward_list<std::vector<std::string>> string_lists;
  std::forward_list<std::vector<Scalar>> scalar_lists;
};

struct Entry {
  const OpInfo* op;
  bool inplace;
  bool owns;                                           // results share no memory with arguments
  std::vector<PyObject*> names;                        // interned, per argument
  std::vector<Arg> defaults;                           // tag kNone where there is none
  std::vector<bool> optional;                          // may be omitted
  std::vector<std::pair<PyObject*, uint8_t>> aliases;  // interned
  Arena kept;                                          // owns the defaults
};

// `all` and n: all arguments of the call, whose tensors say what dtype a number becomes. TypeError for what isn't of
// the kind.
Arg convert(const Entry& e, size_t i, PyObject* o, Arena& arena, PyObject* const* all, size_t n);

}  // namespace paddle::bindings
