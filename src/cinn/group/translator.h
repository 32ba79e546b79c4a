// Translator: what the rules of translate.cc work with.
#pragma once
#include <map>
#include <span>
#include <unordered_map>

#include "cinn/group/translate.h"
#include "pir/op_args.h"

namespace paddle::cinn {

class Translator {
 public:
  Group& group() { return out_.group; }

  int node(pir::Value v);                   // makes an input, or a constant, of a value from outside
  std::vector<int> nodes(pir::Value list);  // of a value of vector type
  void set(pir::Value v, int node);         // checks the shape; reshapes where only ones differ
  void set_list(pir::Value v, std::vector<int> nodes) { lists_[v.impl()] = std::move(nodes); }

  Index index(Dim d);
  Shape shape(const paddle::Shape& dims);
  Shape shape_of(pir::Value v) { return shape(v.shape()); }

  // Arguments by their names in the record, whether attribute or operand with a known value.
  pir::Attribute known(const pir::Operation& op,
                       std::string_view name);  // null if absent; NotImplementedError if not known
  std::vector<Index> ints(const pir::Operation& op, std::string_view name);
  std::vector<int> axes(const pir::Operation& op, std::string_view name, int rank);  // wrapped into [0, rank)
  int axis(const pir::Operation& op, std::string_view name, int rank);
  int scalar(const pir::Operation& op, std::string_view name, DType dtype);  // a constant or 1-element node

  // A float attribute that changes from call to call: an input where the caller passes such, else a constant.
  int run_time_number(const pir::Operation& op, std::string_view name, DType dtype, double absent);

  explicit Translator(const TranslateOptions& options = {}) : options_(options) {}
  TranslatedGroup take() && { return std::move(out_); }
  void add_output(pir::Value v) { out_.group.output(node(v)); }

 private:
  TranslateOptions options_;
  TranslatedGroup out_;
  std::map<std::pair<const pir::Operation*, std::string>, int> numbers_;
  std::unordered_map<const void*, int> nodes_;
  std::unordered_map<const void*, std::vector<int>> lists_;
  std::map<int64_t, int> symbols_;  // Dim's bits -> position
};

using IndexRule = void (*)(Translator& t, const pir::Operation& op);
// Keeps the elements as they lie in memory: reshape and its kin.
bool reinterprets(const pir::Operation& op);
// Reads rows that a tensor of indices names.
bool picks_rows(const pir::Operation& op);

}  // namespace paddle::cinn
