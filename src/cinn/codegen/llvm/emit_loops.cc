// Loops: plain ones, and those in vectors.
#include "cinn/codegen/llvm/kernel_emitter.h"

namespace paddle::cinn {

using V = llvm::Value*;

int KernelEmitter::lanes_of(const Stmt& loop) const {
  bool wide = false;
  std::function<void(const std::vector<Stmt>&)> scan = [&](const std::vector<Stmt>& body) {
    for (const Stmt& s : body) {
      if (s.kind == StmtKind::kLet && m_.values[s.value].op != ValueOp::kIndex)
        wide |= size_of(m_.values[s.value].dtype) == 8;
      scan(s.body);
    }
  };
  scan(loop.body);
  return std::max(1, target_.vector_bytes / (wide ? 8 : 4));
}

V KernelEmitter::counted_loop(const char* name, V begin, V end, V step, const std::function<void(V)>& body) {
  auto* head = block(name);
  auto* inside = block("body");
  auto* after = block("after");
  auto* before = b_.GetInsertBlock();
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  auto* i = b_.CreatePHI(b_.getInt64Ty(), 2);
  i->addIncoming(begin, before);
  b_.CreateCondBr(b_.CreateICmpSLT(i, end), inside, after);
  b_.SetInsertPoint(inside);
  body(i);
  V next = b_.CreateNSWAdd(i, step);
  i->addIncoming(next, b_.GetInsertBlock());
  b_.CreateBr(head);
  b_.SetInsertPoint(after);
  return i;
}

void KernelEmitter::plain_loop(const Stmt& s) {
  V end = scalar_index(s.extent);
  counted_loop("loop", b_.getInt64(0), end, b_.getInt64(1), [&](V i) {
    vars_[s.var] = i;
    statements(s.body);
  });
}

std::vector<llvm::Instruction*> KernelEmitter::since(const Mark& mark) {
  std::vector<llvm::Instruction*> out;
  if (b_.GetInsertBlock() != mark.block) return out;
  auto it = mark.last ? std::next(mark.last->getIterator()) : mark.block->begin();
  for (; it != mark.block->end(); ++it) out.push_back(&*it);
  return out;
}

bool KernelEmitter::separate_accumulators(const std::vector<Stmt>& body, int copies) const {
  for (const Stmt& s : body) {
    if (s.kind == StmtKind::kUpdate) {
      const Acc& a = accs_.at(s.acc);
      if (!a.split || (!a.jointly && a.copies < copies)) return false;
    }
    if (s.kind == StmtKind::kFor) return false;
  }
  return true;
}

void KernelEmitter::interleave(const std::vector<std::vector<llvm::Instruction*>>& parts) {
  for (const auto& p : parts)
    if (p.empty()) return;
  if (parts.size() < 2) return;
  std::set<const llvm::Value*> waiting;  // of a pair of copies, the second uses what the first has loaded
  for (const auto& p : parts) waiting.insert(p.begin(), p.end());
  std::vector<size_t> done(parts.size(), 0);
  llvm::Instruction* last = nullptr;
  const auto ready = [&](const llvm::Instruction* i) {
    return std::none_of(i->op_begin(), i->op_end(), [&](const llvm::Use& x) { return waiting.count(x.get()) > 0; });
  };
  while (!waiting.empty())
    for (size_t k = 0; k < parts.size(); ++k) {
      if (done[k] == parts[k].size() || !ready(parts[k][done[k]])) continue;
      llvm::Instruction* i = parts[k][done[k]++];
      waiting.erase(i);
      if (last) i->moveAfter(last);
      last = i;
    }
}

void KernelEmitter::vector_loop(const Stmt& s) {
  const int width = lanes_of(s);
  if (width == 1) return plain_loop(s);
  V end = scalar_index(s.extent), i = b_.getInt64(0);
  const int64_t known = s.extent.is_const() ? std::max<int64_t>(s.extent.value(), 0) : -1;
  const int least = paired_ ? 2 : 1;
  int unroll = std::max(s.unroll, least);
  while (unroll > least && known >= 0 && known < unroll * width) unroll /= 2;
  // Goes on from i to `last`; place gives each copy's element.
  auto run = [&](int copies, V last, int64_t step, auto&& place) {
    i = counted_loop(copies > 1 ? "unrolled" : "vector", i, last, b_.getInt64(step), [&](V at) {
      std::vector<std::vector<llvm::Instruction*>> parts;
      copies_ = copies;
      for (int c = 0; c < copies; ++c) {
        copy_ = c;
        lanes_ = width;
        vector_var_ = s.var;
        const Mark mark = mark_here();
        vars_[s.var] = place(at, c);
        statements(s.body);
        parts.push_back(since(mark));
        lanes_ = 1;
      }
      copy_ = 0, copies_ = 1;
      if (separate_accumulators(s.body, copies)) interleave(parts);
    });
  };
  auto streams = [&] {
    const int each = vectors_per_stream();
    const int64_t step = static_cast<int64_t>(each) * width;
    V part = b_.CreateMul(b_.CreateUDiv(end, b_.getInt64(s.streams * step)), b_.getInt64(step));
    std::vector<V> start{b_.getInt64(0)};
    for (int k = 1; k < s.streams; ++k) start.push_back(b_.CreateNSWAdd(start.back(), part));
    run(s.streams * each, part, step, [&](V at, int c) {
      return b_.CreateNSWAdd(b_.CreateNSWAdd(at, start[static_cast<size_t>(c / each)]), b_.getInt64(c % each * width));
    });
    i = b_.CreateMul(part, b_.getInt64(s.streams));
  };
  auto whole = [&](int copies) {
    const int64_t step = static_cast<int64_t>(copies) * width;
    if (known >= 0 && known < step) return;
    V last = b_.CreateSub(end, b_.getInt64(step - 1));
    run(copies, last, step, [&](V at, int c) { return c ? b_.CreateNSWAdd(at, b_.getInt64(c * width)) : at; });
  };
  if (s.streams > 1) streams();
  if (unroll > least) whole(unroll);
  if (known < 0 || known % (unroll * width) >= width || unroll == least) whole(least);
  if (known >= 0 && known % width == 0) {
    vector_var_ = -1;
    return;
  }
  auto* tail = block("tail");
  auto* done = block("done");
  b_.CreateCondBr(b_.CreateICmpSLT(i, end), tail, done);
  b_.SetInsertPoint(tail);
  lanes_ = width;
  vector_var_ = s.var;
  vars_[s.var] = i;
  V left = b_.CreateTrunc(b_.CreateSub(end, i), b_.getInt32Ty());
  mask_ = b_.CreateICmpULT(iota(width, b_.getInt32Ty()), b_.CreateVectorSplat(width, left));
  statements(s.body);
  mask_ = nullptr;
  lanes_ = 1;
  vector_var_ = -1;
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

}  // namespace paddle::cinn
