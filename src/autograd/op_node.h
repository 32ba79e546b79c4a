// The node of an operator call: keeps the attributes and what the record's `saves` names, and calls the record's vjp.
#pragma once
#include <forward_list>

#include "autograd/node.h"

namespace paddle::autograd {

// What is kept instead of saved tensors while it is in force: a tensor goes through pack when it is saved, what pack
// gave through unpack when backward needs it.
struct SavedTensorHooks : RefCounted {
  virtual Ref<RefCounted> pack(const Tensor& t) = 0;
  virtual Tensor unpack(RefCounted& packed) = 0;
  virtual void visit_held(HeldVisitor&) const {}
};
// Null: tensors are kept as they are. Not owned.
extern thread_local constinit SavedTensorHooks* saved_tensor_hooks
    __attribute__((visibility("default"), tls_model("initial-exec")));

class OpNode final : public Node {
 public:
  // Before the call runs: captures edges, attributes and saved inputs.
  static Ref<OpNode> make(const OpCall& c);
  // After it ran: captures saved outputs.
  void save_outputs(OpCall& c);

  Tensors apply(Tensors&& out_grads, bool create_graph) override;
  void release_saved() override;
  void visit_held(HeldVisitor& visitor) const override;
  std::string name() const override { return std::string(op_.name) + "_grad"; }
  const OpInfo& op() const { return op_; }

 protected:
  void free() noexcept override;

 private:
  // One tensor of an argument or output. Keeps its history as it was, since the handle may be rebased later.
  struct Saved {
    Tensor tensor;
    Ref<RefCounted> grad_fn;
    uint32_t version = 0;
    uint16_t grad_index = 0;
    SaveKind kind = SaveKind::kNo;
    Ref<SavedTensorHooks> hooks;  // the tensor is what hooks->unpack(*packed) gives
    Ref<RefCounted> packed;
    bool own_output = false;  // kept without history (or it would keep this node alive for ever); restored on use
  };
  explicit OpNode(const OpInfo& op) : op_(op) {}

  Arg keep(const Arg& a, SaveKind kind);
  Saved save(const Tensor& t, SaveKind kind) const;
  static void pack(Saved& s);
  Tensor unpack(const Saved& s, uint32_t out_index, bool create_graph) const;

  const OpInfo& op_;
  std::vector<Arg> args_;  // tensors replaced by Arg(int index into saved_)
  struct TensorSlot {
    uint32_t first = 0, count = 0;  // range of saved_
    bool list = false;
    bool present = false;
    uint32_t edge = 0;  // first edge
  };
  std::vector<TensorSlot> slots_;  // per arg; count 0 for attributes
  std::vector<Saved> saved_;
  std::vector<std::vector<Saved>> saved_outs_;  // per output
  std::vector<bool> out_is_list_;
  std::forward_list<Scalar> scalars_;
  std::forward_list<Ints> ints_;
  std::forward_list<std::string> strings_;
  std::forward_list<std::vector<int64_t>> int_lists_;
  std::forward_list<std::vector<double>> float_lists_;
  std::forward_list<std::unique_ptr<bool[]>> bool_lists_;
  std::forward_list<std::vector<std::string>> string_lists_;
  std::forward_list<std::vector<Scalar>> scalar_lists_;
  bool released_ = false;
};

}  // namespace paddle::autograd
