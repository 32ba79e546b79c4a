#include "dispatch/eager.h"
#include "dispatch/state.h"
#include "passes/passes.h"
#include "pir/op_args.h"

namespace paddle::passes {
namespace {

// A constant is computed outside of whatever is being traced, and without recording.
class Outside {
 public:
  Outside() : depth_(dispatch::state().depth) { dispatch::state().depth = 0; }
  ~Outside() { dispatch::state().depth = depth_; }

 private:
  uint8_t depth_;
  dispatch::GradMode no_grad_{false};
};

}  // namespace

std::vector<OutSlot> evaluate_eagerly(const pir::Operation& op, std::span<const OutSlot> operands) {
  Outside outside;
  auto slot_of = [&](pir::Value v) {
    for (size_t i = 0; i < op.num_operands(); ++i)
      if (op.operand(i) == v) return operands[i];
    return OutSlot();
  };
  pir::BoundArgs bound(op, slot_of);
  OpCall call(*op.info(), bound.args());
  dispatch::run_eager(call);
  std::vector<OutSlot> results;
  for (size_t i = 0; i < op.num_results(); ++i) results.push_back(call.out_slot(i));
  return results;
}

}  // namespace paddle::passes
