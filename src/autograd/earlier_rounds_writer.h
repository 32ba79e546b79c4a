// Writes out the gradients that wait for a loop's body to be complete. earlier_rounds.h says how.
#pragma once
#include <set>

#include "autograd/differentiation.h"
#include "autograd/round_again.h"

namespace paddle::autograd {

class EarlierRounds {
 public:
  EarlierRounds(dispatch::Trace& trace, dispatch::TraceRegion& body, const Tensors& inits, const Tensors& next);
  void write_out(pir::Operation& op);
  void finish(Tensors& inits, Tensors& next);

 private:
  using Operation = pir::Operation;
  using Value = pir::Value;
  using TraceRegion = dispatch::TraceRegion;
  using Parts = EarlierRoundsParts;
  Tensor tensor(Value v) const { return trace_.tensor_of(v, !create_graph_ || stopped(v)); }
  bool is_argument(Value v) const { return v.is_argument() && v.owner_block() == &block_; }
  size_t index_of(Value argument) const { return argument.index(); }
  std::string where() const { return at_ ? " (at " + at_.str() + ")" : std::string(); }
  void within_round(Operation& op, TraceRegion& scratch, Parts& p);
  void seed_outside(Differentiation& d, const Parts& p) const;
  void check_unreached(const Parts& p);
  std::set<size_t> reached_by_gradients(const Parts& p, const std::function<bool(Value)>& relevant) const;
  std::vector<Tensor> before_the_loop(const Parts& p, const std::vector<Value>& ins);
  void through_rounds(Differentiation& outside, const Parts& p);
  void loop_back(Differentiation& outside, const Parts& p, const std::vector<size_t>& variables);
  Tensors round_back(Differentiation& outside, TraceRegion& region, const std::vector<size_t>& variables,
                     const std::vector<Value>& captures, Tensors& sums);
  Tensor seed(const Parts& p, size_t variable) const;
  // ---- earlier_rounds_arguments.cc
  std::vector<Tensor> of_arguments(const Parts& p, const std::vector<Value>& ins);
  std::vector<Tensor> last_round(const Parts& p, const std::vector<Value>& ins, const Differentiation& marks);

  dispatch::Trace& trace_;
  TraceRegion& body_;
  pir::Block& block_;
  std::vector<Value> inits_, next_;
  KeptRounds kept_;
  // Of the gradient at hand.
  bool create_graph_ = false;
  pir::Location at_;
  std::vector<std::pair<Value, Tensor>> lists_;  // variables, and the gradients of what they were in each round
  std::unordered_map<Value, Tensor> inner_;      // of inputs that this round made
  DifferentiateOptions options_, here_;          // of the whole program; of a round that is run again
};

}  // namespace paddle::autograd
