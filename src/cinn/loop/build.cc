// Buffers, kernels, and passes by rows: accumulators in registers.
#include "cinn/loop/builder.h"

#include "base/error.h"

namespace paddle::cinn {

static Index round_up(IndexPool& pool, const Index& n, int64_t to) { return pool.ceil_div(n, to) * to; }

Module Builder::run() {
  declare_buffers();
  evaluator_.available = [this](int node, const Binding& where, ValueId predicate) {
    return available(node, where, predicate);
  };
  for (size_t k = 0; k < plan_.kernels.size(); ++k) build_kernel(static_cast<int>(k));
  m_.scratch_bytes = scratch_high_;
  return std::move(m_);
}

int Builder::add_buffer(BufferRole role, int slot, DType dtype, const Index& size, const Index& offset) {
  m_.buffers.push_back({role, slot, dtype, size, offset});
  return static_cast<int>(m_.buffers.size()) - 1;
}

void Builder::reject(DType t) {
  check(!is_complex(t) && !is_float8(t) && t != DType::kUndefined, ErrorKind::kNotImplemented,
        "[cinn] {} is not compiled", paddle::name_of(t));
}

void Builder::declare_buffers() {
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

int Builder::new_scratch(DType dtype, const Index& size) {
  int b = add_buffer(BufferRole::kScratch, static_cast<int>(m_.buffers.size()), dtype, size, scratch_);
  scratch_ = scratch_ + round_up(m_.pool, size * static_cast<int64_t>(size_of(dtype)), 64);
  return b;
}

void Builder::build_kernel(int index) {
  kernel_index_ = index;
  kernel_ = &plan_.kernels[index];
  accumulated_.clear();
  kept_.clear();
  preludes_.clear();
  ready_.clear();
  scratch_ = 0;
  Kernel k;
  k.name = "kernel" + std::to_string(m_.kernels.size());
  k.by_group = kernel_->by_group;
  k.why = kernel_->why;
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

bool Builder::streams(const StorePlan& s) const {
  if (s.temporary || !target_.streaming) return false;
  // Of a size that only running tells: the caller chooses between code that streams and code that does not.
  const Buffer& b = m_.buffers[outputs_[s.slot]];
  return !b.size.is_const() || b.size.value() * static_cast<int64_t>(size_of(b.dtype)) >= target_.streaming_bytes;
}

void Builder::emit_stores(const PassPlan& pass, const Binding& where) {
  for (int n : pass.keep) {
    Kept& k = kept_.at(n);
    emit_.store(k.buffer, kept_index(k, where), evaluator_.eval(n, where), false);
  }
  for (const StorePlan& s : pass.stores) {
    const ValueId v = s.temporary ? emit_.cast(evaluator_.eval(s.node, where), group_.nodes[s.node].dtype)
                                  : evaluator_.eval_to_store(s.node, where);
    emit_.store(store_buffer(s), evaluator_.offset(s.node, where), v, streams(s));
  }
}

Index Builder::kept_index(const Kept& k, const Binding& where) const {
  Index at = 0;
  for (int a : k.axes) at = at * axes_.axes[a].extent + where.at(a);
  return at;
}

ValueId Builder::available(int node, const Binding& where, ValueId predicate) {
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

void Builder::declare_kept(const PassPlan& pass) {
  Index size = 1;
  for (int a : pass.axes) size = size * axes_.axes[a].extent;
  for (int n : pass.keep) kept_[n] = {new_scratch(register_type(group_.nodes[n].dtype), size), size, pass.axes};
}

void Builder::row_pass(const PassPlan& pass) {
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
  if (const int level = prefetch_level(pass)) {
    emit_.prefetch_loads(parallel_var_, 1, level);
  } else if (reads_ahead(pass)) {
    emit_.prefetch_loads(where.at(pass.axes.back()).terms()[0].first[0], kAhead, 1);
    if (pass.stores.empty() && pass.keep.empty()) emit_.read_in_streams(kStreams);
  }
  for (size_t i = 0; i < pass.axes.size(); ++i) emit_.close_loop();
  current_ = base_;
  for (size_t i = 0; i < pass.reductions.size(); ++i) {
    const int r = pass.reductions[i];
    accumulated_[r] = emit_.read(accs[i], accumulator_type(r));
    if (evaluator_.is_at_least_one(r)) emit_.bound(accumulated_[r], 0.5, 0x1p63);
  }
  ready_.insert(ready_.end(), pass.keep.begin(), pass.keep.end());
}

Module build_loops(const Group& group, const Axes& axes, const Plan& plan, const Target& target) {
  return Builder(group, axes, plan, target).run();
}

void append_loops(Module& module, const Group& group, const Axes& axes, const Plan& plan, const Target& target) {
  module = Builder(group, axes, plan, target, std::move(module)).run();
}

}  // namespace paddle::cinn
