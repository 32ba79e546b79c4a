// Passes by columns: accumulators in scratch memory, one per column of the block.
#include "cinn/loop/builder.h"

namespace paddle::cinn {

void Builder::column_pass(const PassPlan& pass) {
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

void Builder::start_column_pass(const PassPlan& pass) {
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

void Builder::column_rows(const PassPlan& pass, const Binding& outer, int row, const Index& first, int count) {
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

}  // namespace paddle::cinn
