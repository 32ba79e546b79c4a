// KernelEmitter: one kernel of the loop AST as LLVM IR.
#pragma once
#include <functional>
#include <map>
#include <set>

#include "cinn/codegen/llvm/emit.h"
#include "cinn/codegen/llvm/math.h"

namespace paddle::cinn {

class KernelEmitter {
 public:
  KernelEmitter(const Module& m, const Kernel& k, const EmitTarget& target, llvm::Module& out)
      : m_(m), k_(k), target_(target), out_(out), b_(out.getContext()), math_(b_, target.avx512, target.fast_math) {
    llvm::FastMathFlags flags;
    flags.setAllowContract();  // a * b + c in one rounding; nothing that would change NaN or infinities
    b_.setFastMathFlags(flags);
  }

  void run();

 private:
  using V = llvm::Value*;

  // -- set-up

  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(b_.getContext(), name, f_); }

  void load_arguments();
  void collect_buffers(const std::vector<Stmt>& body, std::set<int>& used) const;

  // Lanes that a vectorised loop runs in: as the widest type that it computes with allows.
  int lanes_of(const Stmt& loop) const;

  // An accumulator declared outside of a vectorised loop and updated inside is kept per lane and per unrolled copy.
  void find_accumulator_widths(const std::vector<Stmt>& body, std::set<int> declared_inside,
                               const Stmt* vector_loop = nullptr);

  // -- types

  llvm::Type* type_of(DType t);
  llvm::Type* memory_type(DType t);

  llvm::Type* wide(llvm::Type* t, int lanes) { return lanes == 1 ? t : llvm::FixedVectorType::get(t, lanes); }
  static int lanes(V v) {
    auto* t = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
    return t ? static_cast<int>(t->getNumElements()) : 1;
  }
  V splat(V v) { return lanes_ == 1 || lanes(v) > 1 ? v : b_.CreateVectorSplat(lanes_, v); }
  V get(ValueId id) { return values_[id]; }

  // -- indices

  bool varies(const Index& index) const;

  // At the vector's first lane.
  V scalar_index(const Index& index) { return evaluate(index, 1); }
  V vector_index(const Index& index) { return evaluate(index, lanes_); }

  V evaluate(const Index& index, int width);
  V atom(AtomId id, int width);

  // 32-bit division where the dividend is known to be small.
  V narrow_divide(const Atom& x, V a, V c, bool remainder);
  V iota(int width, llvm::Type* element = nullptr);

  // -- memory

  struct Access {
    V pointer = nullptr;   // of the first lane, or of all where they agree
    V pointers = nullptr;  // one per lane
    bool contiguous = false;
  };

  Access access(int buffer, const Index& index);
  V combined_mask(V predicate);
  V load(const Value& v);

  // From memory's type to the register's.
  V widen(V v, DType dtype);

  // To the nearest bfloat16; NaN stays NaN. Ties go to even ones, but what is coarse has none that mean something.
  V to_bfloat(V v, bool coarse);
  V rounded_bits(V v, bool coarse);  // the result is their upper half
  bool nans_are_short() const;
  V to_memory(V v, DType dtype, bool coarse = false);
  // Made of coarse functions by multiplication and division alone, in this kernel.
  bool is_coarse(ValueId id);
  void find_scratch_values(const std::vector<Stmt>& body);
  void store(const Stmt& s);

  void write(V v, V pointer, llvm::Align align, bool streaming);

  // -- pairs of copies (emit_pairs.cc)

  bool pairs_up(const std::vector<Stmt>& body, const Stmt* loop, bool& bfloats) const;
  V load_paired(const Value& v, V pointer);
  void store_paired(const Stmt& s, V pointer, V v);

  // Once per cache line of what the loop reads.
  void prefetch(const Stmt& s);
  static constexpr int64_t kLine = 64;

  // Whole vectors at multiples of their size.
  bool streamable(const Stmt& s, V v) const;

  // -- values

  V cast(V v, DType from, DType to);
  V value(const Value& v);

  // -- accumulators

  struct Acc {
    ReduceKind kind = ReduceKind::kSum;
    DType dtype = DType::kUndefined;
    int lanes = 1, copies = 1;
    bool split = false;    // by lanes; else one value per lane of the surrounding loop
    bool jointly = false;  // all unrolled copies at once
    std::vector<V> cells;  // stack cells, one per unrolled copy; promoted to registers
    std::vector<V> nans;   // cells of all ones in the lanes that met a NaN, which `cells` then lack
  };
  // Of the largest and smallest floats by lanes, NaNs are noted beside, of two unrolled copies by one comparison.
  bool notes_nans(const Acc& a) const {
    return a.split && a.lanes > 1 && is_float(a.dtype) && (a.kind == ReduceKind::kMax || a.kind == ReduceKind::kMin);
  }
  void note_nans(const Stmt& s, const Acc& a, V x);

  V identity(const Acc& a, int width);

  // As comparisons leave them: in a register of masks, or in vectors.
  llvm::Type* flags_of(const Acc& a) {
    return wide(b_.getIntNTy(target_.avx512 ? 1 : static_cast<unsigned>(8 * size_of(a.dtype))), a.lanes);
  }
  V combine(const Acc& a, V x, V acc);

  void declare(const Stmt& s);
  void update(const Stmt& s);
  bool adds_jointly(const Stmt& update) const;
  V sum_of_copies(const Stmt& s, const Acc& a, V x);
  V read(const Acc& a);

  // -- statements

  void statements(const std::vector<Stmt>& body);

  // for (i = begin; i < end; i += step) body(i); returns i after the loop.
  V counted_loop(const char* name, V begin, V end, V step, const std::function<void(V)>& body);
  void plain_loop(const Stmt& s);

  // -- unrolled copies side by side

  struct Mark {
    llvm::BasicBlock* block;
    llvm::Instruction* last;  // null: the block is empty
  };
  Mark mark_here() {
    return {b_.GetInsertBlock(), b_.GetInsertBlock()->empty() ? nullptr : &b_.GetInsertBlock()->back()};
  }

  // What was appended since; nothing if control flow came between.
  std::vector<llvm::Instruction*> since(const Mark& mark);
  bool separate_accumulators(const std::vector<Stmt>& body, int copies) const;

  // Instructions of independent copies in turns: a core looks some sixty vector operations ahead, fewer than two long
  // chains one after the other.
  static void interleave(const std::vector<std::vector<llvm::Instruction*>>& parts);

  // Of each stream, a cache line at a time; a pair of copies stays together.
  int vectors_per_stream() const { return target_.vector_bytes >= kLine && !paired_ ? 1 : 2; }

  // Streams, unrolled whole vectors, single vectors, and the rest under a mask.
  void vector_loop(const Stmt& s);

  const Module& m_;
  const Kernel& k_;
  EmitTarget target_;
  llvm::Module& out_;
  llvm::IRBuilder<> b_;
  VectorMath math_;
  llvm::Function* f_ = nullptr;
  std::vector<V> values_, symbols_, pointers_;
  std::map<AtomId, V> vars_;
  std::map<int, Acc> accs_;
  std::map<int, ValueId> scratch_values_;  // by buffer: what is kept there, -1 if that is more than one value
  std::map<ValueId, bool> coarse_;         // what is_coarse knows
  int lanes_ = 1, copy_ = 0, copies_ = 1;
  AtomId vector_var_ = -1;
  V mask_ = nullptr;
  bool streamed_ = false;
  bool short_nans_ = false;  // every NaN's lower half is zero, as of those that come from bfloat16 or from arithmetic
  // Vectors of bfloat16 are read and written whole, two of f32 at a time: of two unrolled copies the first has the
  // elements at even places and the second those between, which saves the shuffles that widening takes.
  bool paired_ = false;
  struct Half {
    V pointer, value;
  };
  std::map<const void*, Half> halves_;  // what the first copy of a pair left for the second: by value or statement
  std::map<const Stmt*, std::vector<V>> addends_;  // what copies before the last left for it
};

}  // namespace paddle::cinn
