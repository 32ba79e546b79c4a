// Builder: what build_loops is made of, kernel by kernel.
#pragma once
#include <algorithm>

#include "cinn/loop/build.h"
#include "cinn/loop/evaluate.h"

namespace paddle::cinn {

constexpr int kTile = 32;
constexpr int kJam = 8;  // rows that one visit of a column accumulator takes in

class Builder {
 public:
  // before: kernels, buffers and values that stay.
  Builder(const Group& group, const Axes& axes, const Plan& plan, const Target& target, Module before = {})
      : group_(group),
        axes_(axes),
        plan_(plan),
        target_(target),
        m_(std::move(before)),
        emit_(m_),
        evaluator_(group, axes, m_, emit_) {
    m_.pool = group.pool;
    scratch_high_ = m_.scratch_bytes;
  }

  Module run();

 private:
  struct Kept {
    int buffer;
    Index size;
    AxisList axes;  // that the scratch memory is indexed by, outermost first
  };

  // -- memory

  int add_buffer(BufferRole role, int slot, DType dtype, const Index& size, const Index& offset = 0);
  static void reject(DType t);
  void declare_buffers();
  int new_scratch(DType dtype, const Index& size);

  // -- one kernel

  void build_kernel(int index);

  bool in_parallel(int axis) const {
    return std::find(kernel_->parallel.begin(), kernel_->parallel.end(), axis) != kernel_->parallel.end();
  }

  // A cut axis counts together with its chunk, unless it is the one that blocks run along.
  bool counts_with_chunk(int axis) const;

  // Parallel axes by which iterations are numbered, outermost first, with their extents.
  std::vector<std::pair<int, Index>> numbered_axes();
  Index parallel_extent();

  // Elements of the vector axis that one iteration computes: enough to make the call of an iteration cheap, few enough
  // for every thread to have some, and so that column accumulators stay in L1.
  int64_t block_size(const Index& others) const;
  void decode(const Index& p);

  DType accumulator_type(int r) const { return register_type(group_.nodes[r].dtype); }

  int store_buffer(const StorePlan& s) const { return s.temporary ? temporaries_[s.slot] : outputs_[s.slot]; }

  bool streams(const StorePlan& s) const;
  void emit_stores(const PassPlan& pass, const Binding& where);
  Index kept_index(const Kept& k, const Binding& where) const;

  // What needs no computing: reductions of this kernel, values kept in scratch memory, temporaries.
  ValueId available(int node, const Binding& where, ValueId predicate);

  bool keeping_ready(int node) const { return std::find(ready_.begin(), ready_.end(), node) != ready_.end(); }

  void declare_kept(const PassPlan& pass);
  double body_cost(const PassPlan& pass) const;
  Index work_of(const PassPlan& pass) const;

  // -- rows: accumulators in registers

  void row_pass(const PassPlan& pass);

  // Rows that come from memory: while the pass that computes most runs over one, the next can come in. Into the cache
  // of which level; 0: not at all.
  int prefetch_level(const PassPlan& pass) const;

  // Whether the kernel's first pass over long rows should ask for elements some way ahead, and if it only reduces, read
  // at several places at once: it waits for memory, and the hardware alone doesn't ask early enough, nor for enough.
  bool reads_ahead(const PassPlan& pass) const;
  static constexpr int64_t kAhead = 1024;  // elements
  static constexpr int kStreams = 4;

  ValueId reduced_value(int r, const Binding& where) { return evaluator_.eval(group_.nodes[r].operands[0], where); }

  // -- columns: accumulators in scratch memory, one per column of the block

  template <class Fn>
  void over_block(int unroll, Binding where, Fn&& body) {
    if (kernel_->vector_axis < 0) {
      body(where);
      return;
    }
    Index count = m_.pool.clamp(evaluator_.trip_count(kernel_->vector_axis, base_) - block_start_, 0, block_);
    Index c = emit_.open_loop(count, true, unroll);
    where[kernel_->vector_axis] = block_start_ + c;
    current_ = where;
    body(where);
    emit_.close_loop();
    current_ = base_;
  }

  void column_pass(const PassPlan& pass);
  void start_column_pass(const PassPlan& pass);

  // `count` rows from `first` on, combined before they meet the accumulator.
  void column_rows(const PassPlan& pass, const Binding& outer, int row, const Index& first, int count);

  const Group& group_;
  const Axes& axes_;
  const Plan& plan_;
  const Target& target_;
  Module m_;
  Emitter emit_;
  Evaluator evaluator_;
  std::vector<int> outputs_, temporaries_;  // buffers, by slot
  Index scratch_, scratch_high_;

  const KernelPlan* kernel_ = nullptr;
  int kernel_index_ = 0;
  AtomId parallel_var_ = -1;
  Binding base_;         // indices of the parallel axes
  Binding current_;      // indices of all loops that are open
  double heaviest_ = 0;  // cost of one element in the kernel's dearest pass
  int64_t block_ = 1;
  Index block_start_;
  std::map<int, ValueId> accumulated_;
  std::map<int, Kept> kept_;
  std::vector<int> ready_;       // kept by a pass that is over
  std::map<int, int> preludes_;  // node -> scratch buffer by column
  std::map<int, int> column_acc_;
};

}  // namespace paddle::cinn
