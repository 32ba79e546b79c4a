// One random call of a record: a sample of it with some arguments replaced by what may be nonsense.
#pragma once
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "api/op_call.h"

namespace paddle::testing {

class FuzzCall {
 public:
  // row: of op_rows.json. The same seed makes the same call.
  FuzzCall(const nlohmann::json& row, uint64_t seed);
  std::span<Arg> args() { return args_; }
  std::string str() const;

  const OpInfo& op;
  bool inplace = false;

 private:
  using json = nlohmann::json;
  Arg make(const ArgInfo& arg, const json& given);
  Tensor tensor(const json& spec);   // as the sample says, laid out anyhow
  Tensor any_tensor();               // any rank, sizes, dtype
  Tensor mutated(const json& spec);  // the sample's with one thing wrong
  Tensor filled(DType dtype, const std::vector<int64_t>& shape, double low, double high);
  Tensor laid_out(DType dtype, const std::vector<int64_t>& shape);
  void fill(const Tensor& t, double low, double high);
  int64_t any_int();
  double any_float();
  std::vector<int64_t> any_ints(const json& given);
  bool chance(double p) { return std::uniform_real_distribution<>(0, 1)(rng_) < p; }
  int64_t below(int64_t n) { return static_cast<int64_t>(rng_() % static_cast<uint64_t>(n)); }

  std::mt19937_64 rng_;
  std::vector<Arg> args_;
  std::string text_;
  double wrong_ = 0;  // the chance that an argument is not the sample's
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
