// One sample of a record (tests/op_rows.json) as arguments of a call. Tensors have metadata only.
#pragma once
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>

#include "api/op_call.h"

namespace paddle::testing {

class Sample {
 public:
  // symbolic: sizes above 1 become symbols that stand for them.
  Sample(const OpInfo& op, const nlohmann::json& values, bool symbolic);
  std::span<Arg> args() { return args_; }

 private:
  Arg read(const ArgInfo& arg, const nlohmann::json& v);
  Tensor tensor(const nlohmann::json& spec) const;
  Scalar scalar(const nlohmann::json& v) const;

  bool symbolic_;
  std::vector<Arg> args_;
  // What the arguments borrow; deques keep addresses.
  std::deque<Tensor> tensors_;
  std::deque<Tensors> lists_;
  std::deque<Scalar> scalars_;
  std::deque<Ints> ints_;
  std::deque<std::string> strings_;
  std::deque<std::vector<int64_t>> int_lists_;
  std::deque<std::vector<double>> float_lists_;
  std::deque<std::unique_ptr<bool[]>> bools_;
  std::deque<std::vector<std::string>> string_lists_;
  std::deque<std::vector<Scalar>> scalar_lists_;
};

}  // namespace paddle::testing
