#include "cinn/loop/build.h"

#include <algorithm>

#include "base/error.h"
#include "cinn/loop/evaluate.h"

namespace paddle::cinn {
namespace {

constexpr int kTile = 32;
constexpr int kJam = 8;  // rows that one visit of a column accumulator takes in

Index round_up(IndexPool& pool, const Index& n, int64_t to) { return pool.ceil_div(n, to) * to; }

class Builder {
 public:
  Builder(const Group& group, const Axes& axes, const Plan& plan, const Target& target)
      : group_(group), axes_(axes), plan_(plan), target_(target), emit_(m_), evaluator_(group, axes, m_, emit_) {
    m_.pool = group.pool;
  }

  Module run() {
    declare_buffers();
    evaluator_.available = [this](int node, const Binding& where, ValueId predicate) {
      return available(node, where, predicate);
    };
    for (size_t k = 0; k < plan_.kernels.size(); ++k) build_kernel(static_cast<int>(k));
    m_.scratch_bytes = scratch_high_;
    return std::move(m_);
  }

 private:
  struct Kept {
    int buffer;
    Index size;
    AxisList axes;  // that the scratch memory is indexed by, outermost first
  };

  // -- memory

  int add_buffer(BufferRole role, int slot, DType dtype, const Index& size, const Index& offset = 0) {
    m_.buffers.push_back({role, slot, dtype, size, offset});
    return static_cast<int>(m_.buffers.size()) - 1;
  }

  static void reject(DType t) {
    check(!is_complex(t) && !is_float8(t) && t != DType::kUndefined, ErrorKind::kNotImplemented,
          "[cinn] {} is not compiled", paddle::name_of(t));
  }

  void declare_buffers() {
    m_.num_inputs = static_cast<int>(group_.inputs.size());
    m_.num_outputs = static_cast<int>(group_.outputs.size());
    int slot = 0;
    for (int i : group_.inputs) {
      reject(group_.nodes[i].dtype);
      evaluator_.input_buffers.push_back(
          add_buffer(BufferRole::kInput, slot++, group_.nodes[i].dtype, element_count(group_.nodes[i].shape)));
    }
    slot = 0;
    for (int o : group_.outputs) {
      reject(group_.nodes[o].dtype);
      outputs_.push_back(
          add_buffer(BufferRole::kOutput, slot++, group_.nodes[o].dtype, element_count(group_.nodes[o].shape)));
    }
    slot = 0;
    for (int t : plan_.temporaries) {
      DType type = register_type(group_.nodes[t].dtype);
      Index size = element_count(group_.nodes[t].shape);
      temporaries_.push_back(add_buffer(BufferRole::kTemp, slot++, type, size, m_.workspace_bytes));
      m_.workspace_bytes = m_.workspace_bytes + round_up(m_.pool, size * static_cast<int64_t>(size_of(type)), 64);
    }
    for (size_t i = 0; i < m_.pool.size(); ++i)
      if (m_.pool.atom(static_cast<AtomId>(i)).kind == AtomKind::kSymbol)
        m_.num_symbols = std::max(m_.num_symbols, m_.pool.atom(static_cast<AtomId>(i)).number + 1);
  }

  int new_scratch(DType dtype, const Index& size) {
    int b = add_buffer(BufferRole::kScratch, static_cast<int>(m_.buffers.size()), dtype, size, scratch_);
    scratch_ = scratch_ + round_up(m_.pool, size * static_cast<int64_t>(size_of(dtype)), 64);
    return b;
  }

  // -- one kernel

  void build_kernel(int index) {
    kernel_index_ = index;
    kernel_ = &plan_.kernels[index];
    accumulated_.clear();
    kept_.clear();
    preludes_.clear();
    ready_.clear();
    scratch_ = 0;
    Kernel k;
    k.name = "kernel" + std::to_string(index);
    k.by_group = kernel_->by_group;
    k.parallel_extent = parallel_extent();
    Index p = m_.pool.var(k.parallel_extent);
    k.parallel_var = p.terms()[0].first[0];
    parallel_var_ = k.parallel_var;
    emit_.begin_kernel(k.parallel_var);
    base_.clear();
    decode(p);
    current_ = base_;
    heaviest_ = 0;
    for (const PassPlan& pass : kernel_->passes) {
      k.work = k.work + work_of(pass);
      heaviest_ = std::max(heaviest_, body_cost(pass));
      ready_.insert(ready_.end(), pass.keep.begin(), pass.keep.end());
    }
    ready_.clear();
    for (const PassPlan& pass : kernel_->passes) kernel_->by_columns ? column_pass(pass) : row_pass(pass);
    k.body = emit_.end_kernel();
    m_.kernels.push_back(std::move(k));
    scratch_high_ = m_.pool.max(scratch_high_, scratch_);
  }

  bool in_parallel(int axis) const {
    return std::find(kernel_->parallel.begin(), kernel_->parallel.end(), axis) != kernel_->parallel.end();
  }

  // A cut axis counts together with its chunk, unless it is the one that blocks run along.
  bool counts_with_chunk(int axis) const {
    return axes_.axes[axis].chunk >= 0 && axis != kernel_->vector_axis && in_parallel(axes_.axes[axis].chunk);
  }

  // Parallel axes by which iterations are numbered, outermost first, with their extents.
  std::vector<std::pair<int, Index>> numbered_axes() {
    std::vector<std::pair<int, Index>> out;
    for (int a : kernel_->parallel) {
      if (a == kernel_->vector_axis) continue;
      bool with_axis = false;
      for (int b : kernel_->parallel) with_axis |= axes_.axes[b].chunk == a && counts_with_chunk(b);
      if (with_axis) continue;
      if (a == kernel_->tile_axis) {
        out.push_back({a, m_.pool.ceil_div(axes_.axes[a].extent, kTile)});
        continue;
      }
      out.push_back({a, counts_with_chunk(a) ? axes_.axes[a].total : axes_.axes[a].extent});
    }
    return out;
  }

  Index parallel_extent() {
    Index rest = 1;
    for (auto& [axis, extent] : numbered_axes()) rest = rest * extent;
    if (kernel_->vector_axis < 0) return rest;
    block_ = block_size(rest);
    return rest * m_.pool.ceil_div(axes_.axes[kernel_->vector_axis].extent, block_);
  }

  // Elements of the vector axis that one iteration computes: enough to make the call of an iteration cheap, few enough
  // for every thread to have some, and so that column accumulators stay in L1.
  int64_t block_size(const Index& others) const {
    const Index& n = axes_.axes[kernel_->vector_axis].extent;
    if (kernel_->tile_axis >= 0) return n.is_const() ? std::clamp<int64_t>(n.value(), 1, 128) : 128;
    bool reduces = false;
    for (const PassPlan& p : kernel_->passes) reduces |= !p.axes.empty();
    const int64_t most = reduces ? 1024 : 4096, least = reduces ? 64 : 256;
    if (!n.is_const()) return reduces ? 512 : 2048;
    int64_t block = n.value();
    int64_t wanted =
        others.is_const() ? (4 * target_.threads + others.value() - 1) / std::max<int64_t>(others.value(), 1) : 1;
    if (reduces) wanted = (wanted + 3) / 4;  // wide blocks read memory in longer runs
    if (wanted > 1) block = (block + wanted - 1) / wanted;
    block = std::clamp(block, std::min(least, n.value()), most);
    if (block < n.value()) block = (block + 63) / 64 * 64;
    return std::max<int64_t>(block, 1);
  }

  void decode(const Index& p) {
    Index rest = p;
    if (kernel_->vector_axis >= 0) {
      Index blocks = m_.pool.ceil_div(axes_.axes[kernel_->vector_axis].extent, block_);
      block_start_ = m_.pool.mod(rest, blocks) * block_;
      rest = m_.pool.div(rest, blocks);
    }
    auto axes = numbered_axes();
    for (size_t i = axes.size(); i-- > 0;) {
      auto& [axis, extent] = axes[i];
      Index at = i == 0 ? rest : m_.pool.mod(rest, extent);
      if (i > 0) rest = m_.pool.div(rest, extent);
      if (counts_with_chunk(axis)) {
        base_[axes_.axes[axis].chunk] = m_.pool.div(at, axes_.axes[axis].extent);
        at = m_.pool.mod(at, axes_.axes[axis].extent);
      }
      base_[axis] = axis == kernel_->tile_axis ? at * kTile : at;
    }
  }

  DType accumulator_type(int r) const { return register_type(group_.nodes[r].dtype); }

  int store_buffer(const StorePlan& s) const { return s.temporary ? temporaries_[s.slot] : outputs_[s.slot]; }

  bool streams(const StorePlan& s) const {
    if (s.temporary || !target_.streaming) return false;
    // Of a size that only running tells: the caller chooses between code that streams and code that does not.
    const Buffer& b = m_.buffers[outputs_[s.slot]];
    return !b.size.is_const() || b.size.value() * static_cast<int64_t>(size_of(b.dtype)) >= target_.streaming_bytes;
  }

  void emit_stores(const PassPlan& pass, const Binding& where) {
    for (int n : pass.keep) {
      Kept& k = kept_.at(n);
      emit_.store(k.buffer, kept_index(k, where), evaluator_.eval(n, where), false);
    }
    for (const StorePlan& s : pass.stores) {
      ValueId v = emit_.cast(evaluator_.eval(s.node, where), group_.nodes[s.node].dtype);
      emit_.store(store_buffer(s), evaluator_.offset(s.node, where), v, streams(s));
    }
  }

  Index kept_index(const Kept& k, const Binding& where) const {
    Index at = 0;
    for (int a : k.axes) at = at * axes_.axes[a].extent + where.at(a);
    return at;
  }

  // What needs no computing: reductions of this kernel, values kept in scratch memory, temporaries.
  ValueId available(int node, const Binding& where, ValueId predicate) {
    if (plan_.temporary_of[node] >= 0 && plan_.kernel_of[node] < kernel_index_)
      return emit_.load(temporaries_[plan_.temporary_of[node]], evaluator_.offset(node, where), predicate);
    // The rest is what the kernel knows at the indices where its loops stand, not elsewhere.
    for (int a : axes_.nodes[node].all) {
      auto it = current_.find(a);
      if (it == current_.end() || !(it->second == where.at(a))) return -1;
    }
    if (auto it = accumulated_.find(node); it != accumulated_.end()) return it->second;
    if (auto it = kept_.find(node); it != kept_.end() && keeping_ready(node))
      return emit_.load(it->second.buffer, kept_index(it->second, where), -1);
    if (auto it = preludes_.find(node); it != preludes_.end())
      return emit_.load(it->second, where.at(kernel_->vector_axis) - block_start_, -1);
    return -1;
  }

  bool keeping_ready(int node) const { return std::find(ready_.begin(), ready_.end(), node) != ready_.end(); }

  void declare_kept(const PassPlan& pass) {
    Index size = 1;
    for (int a : pass.axes) size = size * axes_.axes[a].extent;
    for (int n : pass.keep) kept_[n] = {new_scratch(register_type(group_.nodes[n].dtype), size), size, pass.axes};
  }

  double body_cost(const PassPlan& pass) const {
    double sum = 0;
    std::vector<bool> seen(group_.nodes.size());
    std::vector<int> work;
    for (int r : pass.reductions) work.push_back(group_.nodes[r].operands[0]);
    for (const StorePlan& s : pass.stores) work.push_back(s.node);
    while (!work.empty()) {
      int n = work.back();
      work.pop_back();
      if (seen[n] || keeping_ready(n)) continue;
      if (plan_.temporary_of[n] >= 0 && plan_.kernel_of[n] < kernel_index_) continue;
      seen[n] = true;
      if (group_.nodes[n].kind == NodeKind::kReduce) continue;
      sum += cost_of(group_.nodes[n]) + (group_.nodes[n].kind == NodeKind::kInput ? 1 : 0);
      for (int x : group_.nodes[n].operands) work.push_back(x);
    }
    return sum;
  }

  Index work_of(const PassPlan& pass) const {
    Index n = static_cast<int64_t>(body_cost(pass)) + 1;
    for (int a : pass.axes) n = n * axes_.axes[a].extent;
    if (kernel_->tile_axis >= 0) n = n * kTile;
    return kernel_->vector_axis >= 0 ? n * block_ : n;
  }

  // -- rows: accumulators in registers

  void row_pass(const PassPlan& pass) {
    declare_kept(pass);
    std::vector<int> accs;
    for (int r : pass.reductions) accs.push_back(emit_.new_accumulator(group_.nodes[r].reduce, accumulator_type(r)));
    Binding where = base_;
    for (size_t i = 0; i < pass.axes.size(); ++i) {
      const bool innermost = i + 1 == pass.axes.size();
      Index count = evaluator_.trip_count(pass.axes[i], where);
      where[pass.axes[i]] = emit_.open_loop(count, innermost, innermost ? Emitter::kByCost : 1);
    }
    current_ = where;
    for (size_t i = 0; i < pass.reductions.size(); ++i) {
      const int r = pass.reductions[i];
      emit_.update(accs[i], group_.nodes[r].reduce, emit_.cast(reduced_value(r, where), accumulator_type(r)));
    }
    emit_stores(pass, where);
    if (pass.axes.size() == 1 && prefetches(pass)) emit_.prefetch_loads(parallel_var_, 1);
    for (size_t i = 0; i < pass.axes.size(); ++i) emit_.close_loop();
    current_ = base_;
    for (size_t i = 0; i < pass.reductions.size(); ++i)
      accumulated_[pass.reductions[i]] = emit_.read(accs[i], accumulator_type(pass.reductions[i]));
    ready_.insert(ready_.end(), pass.keep.begin(), pass.keep.end());
  }

  // Rows that come from memory: while the pass that computes most runs over one, the next can come in.
  bool prefetches(const PassPlan& pass) const {
    if (kernel_->passes.size() < 2) return false;
    const Index& n = axes_.axes[pass.axes[0]].extent;
    Index elements = n;
    for (int a : kernel_->parallel) elements = elements * axes_.axes[a].extent;
    if (elements.is_const() && elements.value() * 2 < target_.streaming_bytes) return false;
    if (!n.is_const() || !target_.streaming || n.value() * 4 > target_.l1_bytes / 2 || n.value() < 256) return false;
    return body_cost(pass) == heaviest_;
  }

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

  void column_pass(const PassPlan& pass) {
    if (pass.axes.empty() && kernel_->tile_axis >= 0) {
      Binding where = base_;
      Index& at = where[kernel_->tile_axis];
      at = at + emit_.open_loop(m_.pool.min(axes_.axes[kernel_->tile_axis].extent - at, kTile), false, 1);
      over_block(Emitter::kByCost, where, [&](const Binding& inner) { emit_stores(pass, inner); });
      emit_.close_loop();
      return;
    }
    if (pass.axes.empty()) {
      over_block(Emitter::kByCost, base_, [&](const Binding& where) { emit_stores(pass, where); });
      return;
    }
    start_column_pass(pass);
    Binding where = base_;
    for (size_t i = 0; i + 1 < pass.axes.size(); ++i)
      where[pass.axes[i]] = emit_.open_loop(evaluator_.trip_count(pass.axes[i], where), false, 1);
    const int row = pass.axes.back();
    const Index rows = evaluator_.trip_count(row, where);
    const Index jammed = m_.pool.div(rows, kJam);
    if (!jammed.is(0)) {
      Index r = emit_.open_loop(jammed, false, 1);
      column_rows(pass, where, row, r * kJam, kJam);
      emit_.close_loop();
    }
    const Index rest = m_.pool.mod(rows, kJam);
    if (!rest.is(0)) {
      Index r = emit_.open_loop(rest, false, 1);
      column_rows(pass, where, row, jammed * kJam + r, 1);
      emit_.close_loop();
    }
    for (size_t i = 0; i + 1 < pass.axes.size(); ++i) emit_.close_loop();
    for (int r : pass.reductions) preludes_[r] = column_acc_.at(r);
  }

  void start_column_pass(const PassPlan& pass) {
    over_block(1, base_, [&](const Binding& where) {
      std::vector<std::pair<int, int>> done;
      for (int n : pass.prelude) {
        ValueId v = evaluator_.eval(n, where);
        int b = new_scratch(register_type(group_.nodes[n].dtype), block_);
        emit_.store(b, where.at(kernel_->vector_axis) - block_start_, v, false);
        done.push_back({n, b});
      }
      for (int r : pass.reductions) {
        column_acc_[r] = new_scratch(accumulator_type(r), block_);
        emit_.store(column_acc_[r], where.at(kernel_->vector_axis) - block_start_,
                    evaluator_.identity(group_.nodes[r].reduce, accumulator_type(r)), false);
      }
      for (auto& [n, b] : done) preludes_[n] = b;
    });
  }

  // `count` rows from `first` on, combined before they meet the accumulator.
  void column_rows(const PassPlan& pass, const Binding& outer, int row, const Index& first, int count) {
    const bool light = body_cost(pass) <= 4;
    over_block(light ? 2 : 1, outer, [&](Binding where) {
      const Index column = where.at(kernel_->vector_axis) - block_start_;
      std::vector<std::vector<ValueId>> terms(pass.reductions.size());
      for (int k = 0; k < count; ++k) {
        where[row] = first + k;
        current_ = where;
        for (size_t i = 0; i < pass.reductions.size(); ++i) {
          const int r = pass.reductions[i];
          terms[i].push_back(emit_.cast(reduced_value(r, where), accumulator_type(r)));
        }
        emit_stores(pass, where);
      }
      for (size_t i = 0; i < pass.reductions.size(); ++i) {
        const int r = pass.reductions[i];
        const DType type = accumulator_type(r);
        const scalar::Fn combine = function_of(group_.nodes[r].reduce, type);
        auto& t = terms[i];
        for (size_t width = t.size(); width > 1; width = (width + 1) / 2)
          for (size_t k = 0; k < width / 2; ++k)
            t[k] = emit_.fn(combine, {t[2 * k], t[2 * k + 1]}, type);  // widths are powers of two
        ValueId sum = emit_.fn(combine, {emit_.load(column_acc_.at(r), column, -1), t[0]}, type);
        emit_.store(column_acc_.at(r), column, sum, false);
      }
    });
  }

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

}  // namespace

Module build_loops(const Group& group, const Axes& axes, const Plan& plan, const Target& target) {
  return Builder(group, axes, plan, target).run();
}

}  // namespace paddle::cinn
