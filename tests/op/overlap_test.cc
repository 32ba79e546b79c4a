// In-place calls whose operands lie in their target's memory: what comes of them must be what comes of the same call
// with copies of those operands, for every operator that has an in-place form.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "api/call.h"
#include "dispatch/eager.h"
#include "fuzz_call.h"
#include "tests/paths.h"

namespace paddle {
namespace {

using testing::FuzzCall;

Tensor copied(const Tensor& t) {
  Tensor copy = Tensor::empty(t.shape(), t.dtype(), t.place());
  dispatch::copy_into(copy, t);
  return copy;
}

// A tensor of t's shape, dense, that begins at that element of a vector.
Tensor inside(const Tensor& vector, const Tensor& t, int64_t offset) {
  return vector.as_view(t.shape(), contiguous_strides(t.shape()), offset);
}

// The target afterwards, or what the error says.
std::string outcome(FuzzCall& f, const Tensor& target) {
  try {
    std::vector<Arg> args(f.args().begin(), f.args().end());  // a call may put others in their place
    OpCall c(f.op, args);
    c.inplace = true;
    c.key_drawn = true;  // the same draw in every run
    dispatch::call(c);
    const Tensor result = copied(target);
    return {result.data<char>(), static_cast<size_t>(result.numel()) * size_of(result.dtype())};
  } catch (const Error& e) {
    return std::string("raised ") + e.what();
  }
}

// One operand after the other is laid over the target. Returns how many were.
size_t try_operands(FuzzCall& f, size_t target) {
  const Tensor start = f.args()[target].tensor();
  size_t tried = 0;
  for (size_t i = 0; i < f.args().size(); ++i) {
    const Arg given = f.args()[i];
    if (i == target || given.tag() != Arg::Tag::kTensor || given.tensor().dtype() != start.dtype()) continue;
    if (start.numel() == 0 || given.tensor().numel() == 0) continue;
    for (const int64_t offset : {0, 1}) {
      const int64_t n = std::max(start.numel(), offset + given.tensor().numel());
      Tensor vector = Tensor::empty({n}, start.dtype());
      dispatch::copy_into(inside(vector, given.tensor(), offset), given.tensor());
      dispatch::copy_into(inside(vector, start, 0), start);
      const Tensor over = copied(vector);
      const Tensor x = inside(vector, start, 0), y = inside(vector, given.tensor(), offset);
      const Tensor x_over = inside(over, start, 0), y_apart = copied(inside(over, given.tensor(), offset));
      f.args()[target] = Arg(x);
      f.args()[i] = Arg(y);
      const std::string got = outcome(f, x);
      f.args()[target] = Arg(x_over);
      f.args()[i] = Arg(y_apart);
      EXPECT_EQ(got == outcome(f, x_over), true)
          << f.str() << "\n  operand " << f.op.args[i].name << " from element " << offset << " on";
      f.args()[i] = given;
      ++tried;
    }
  }
  f.args()[target] = Arg(start);
  return tried;
}

TEST(InPlace, OperandsInTheTargetAreReadBeforeItIsWritten) {
  std::ifstream file(std::string(test::kGeneratedFolder) + "/tests/op_rows.json");
  size_t tried = 0;
  for (const auto& row : nlohmann::json::parse(file)) {
    const OpInfo& op = op_named(row["op"].get<std::string>());
    if (!op.has(kInplaceVariant) || op.has(kView | kCollective)) continue;
    for (uint64_t seed = 0; seed < 40; ++seed) {
      FuzzCall f(row, seed);
      const auto target = static_cast<size_t>(op.outs[0].inplace_of);
      if (!f.args()[target].none() && !f.args()[target].tensor().stop_gradient())
        f.args()[target].tensor()->bits &= static_cast<uint8_t>(~kNeedsGrad);
      if (!f.args()[target].none()) tried += try_operands(f, target);
    }
  }
  EXPECT_GT(tried, 1000u);
}

}  // namespace
}  // namespace paddle
