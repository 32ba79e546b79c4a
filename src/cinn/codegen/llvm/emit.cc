#include "cinn/codegen/llvm/emit.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <functional>
#include <map>
#include <set>

#include "base/error.h"
#include "cinn/codegen/llvm/math.h"

namespace paddle::cinn {
namespace {

using V = llvm::Value*;

class KernelEmitter {
 public:
  KernelEmitter(const Module& m, const Kernel& k, const EmitTarget& target, llvm::Module& out)
      : m_(m), k_(k), target_(target), out_(out), b_(out.getContext()), math_(b_, target.avx512, target.fast_math) {
    llvm::FastMathFlags flags;
    flags.setAllowContract();  // a * b + c in one rounding; nothing that would change NaN or infinities
    b_.setFastMathFlags(flags);
  }

  void run() {
    auto* pointer = b_.getPtrTy();
    auto* i64 = b_.getInt64Ty();
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, i64, i64}, false);
    f_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, k_.name, out_);
    f_->setDoesNotThrow();
    for (unsigned i = 0; i < 4; ++i) f_->addParamAttr(i, llvm::Attribute::NoUndef);
    f_->addFnAttr("prefer-vector-width", std::to_string(target_.vector_bytes * 8));
    f_->addFnAttr("min-legal-vector-width", std::to_string(target_.vector_bytes * 8));
    values_.assign(m_.values.size(), nullptr);
    find_accumulator_widths(k_.body, {});
    auto* entry = block("entry");
    b_.SetInsertPoint(entry);
    load_arguments();
    V p_begin = f_->getArg(2), p_end = f_->getArg(3);
    counted_loop("parallel", p_begin, p_end, b_.getInt64(1), [&](V p) {
      vars_[k_.parallel_var] = p;
      statements(k_.body);
    });
    if (streamed_) b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
    b_.CreateRetVoid();
  }

 private:
  // -- set-up

  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(b_.getContext(), name, f_); }

  void load_arguments() {
    const int io = m_.num_inputs + m_.num_outputs;
    auto argument = [&](int i) {
      return b_.CreateLoad(b_.getPtrTy(), b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), f_->getArg(0), i));
    };
    for (int i = 0; i < m_.num_symbols; ++i)
      symbols_.push_back(
          b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), f_->getArg(1), i)));
    std::set<int> used;
    collect_buffers(k_.body, used);
    V workspace = nullptr, scratch = nullptr;
    for (size_t i = 0; i < m_.buffers.size(); ++i) {
      const Buffer& buffer = m_.buffers[i];
      V p = nullptr;
      if (used.count(static_cast<int>(i))) {
        switch (buffer.role) {
          case BufferRole::kInput:
            p = argument(buffer.slot);
            break;
          case BufferRole::kOutput:
            p = argument(m_.num_inputs + buffer.slot);
            break;
          case BufferRole::kTemp:
            if (!workspace) workspace = argument(io);
            p = b_.CreatePtrAdd(workspace, scalar_index(buffer.offset));
            break;
          case BufferRole::kScratch:
            if (!scratch) scratch = argument(io + 1);
            p = b_.CreatePtrAdd(scratch, scalar_index(buffer.offset));
            break;
        }
      }
      pointers_.push_back(p);
    }
  }

  void collect_buffers(const std::vector<Stmt>& body, std::set<int>& used) const {
    for (const Stmt& s : body) {
      if (s.kind == StmtKind::kStore) used.insert(s.buffer);
      if (s.kind == StmtKind::kLet && m_.values[s.value].op == ValueOp::kLoad) used.insert(m_.values[s.value].buffer);
      collect_buffers(s.body, used);
    }
  }

  // Lanes that a vectorised loop runs in: as the widest type that it computes with allows.
  int lanes_of(const Stmt& loop) const {
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

  // An accumulator declared outside of a vectorised loop and updated inside is kept per lane and per unrolled copy.
  void find_accumulator_widths(const std::vector<Stmt>& body, std::set<int> declared_inside,
                               const Stmt* vector_loop = nullptr) {
    for (const Stmt& s : body) {
      if (s.kind == StmtKind::kAcc) {
        if (vector_loop) declared_inside.insert(s.acc);
        accs_[s.acc].kind = s.reduce;
        accs_[s.acc].dtype = s.dtype;
      }
      if (s.kind == StmtKind::kUpdate && vector_loop && !declared_inside.count(s.acc)) {
        accs_[s.acc].lanes = lanes_of(*vector_loop);
        accs_[s.acc].copies = vector_loop->unroll;
        accs_[s.acc].split = true;
      }
      find_accumulator_widths(s.body, declared_inside, s.vectorize ? &s : vector_loop);
    }
  }

  // -- types

  llvm::Type* type_of(DType t) {
    switch (t) {
      case DType::kBool:
        return b_.getInt1Ty();
      case DType::kUInt8:
      case DType::kInt8:
        return b_.getInt8Ty();
      case DType::kInt16:
        return b_.getInt16Ty();
      case DType::kInt32:
      case DType::kUInt32:
        return b_.getInt32Ty();
      case DType::kInt64:
      case DType::kUInt64:
        return b_.getInt64Ty();
      case DType::kFloat32:
        return b_.getFloatTy();
      case DType::kFloat64:
        return b_.getDoubleTy();
      default:
        fail(ErrorKind::kNotImplemented, "[cinn] no code for {}", name_of(t));
    }
  }

  llvm::Type* memory_type(DType t) {
    if (t == DType::kBool) return b_.getInt8Ty();
    if (t == DType::kBFloat16) return b_.getInt16Ty();
    return t == DType::kFloat16 ? b_.getHalfTy() : type_of(t);
  }

  llvm::Type* wide(llvm::Type* t, int lanes) { return lanes == 1 ? t : llvm::FixedVectorType::get(t, lanes); }
  static int lanes(V v) {
    auto* t = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
    return t ? static_cast<int>(t->getNumElements()) : 1;
  }
  V splat(V v) { return lanes_ == 1 || lanes(v) > 1 ? v : b_.CreateVectorSplat(lanes_, v); }
  V get(ValueId id) { return values_[id]; }

  // -- indices

  bool varies(const Index& index) const {
    if (lanes_ == 1) return false;
    std::vector<AtomId> leaves;
    m_.pool.leaves(index, leaves);
    for (AtomId id : leaves) {
      if (id == vector_var_) return true;
      const Atom& x = m_.pool.atom(id);
      if (x.kind == AtomKind::kValue && lanes(values_[x.number]) > 1) return true;
    }
    return false;
  }

  // At the vector's first lane.
  V scalar_index(const Index& index) { return evaluate(index, 1); }
  V vector_index(const Index& index) { return evaluate(index, lanes_); }

  V evaluate(const Index& index, int width) {
    V sum = nullptr;
    int64_t constant = 0;
    for (const auto& [monomial, c] : index.terms()) {
      if (monomial.empty()) {
        constant = c;
        continue;
      }
      V term = nullptr;
      for (AtomId id : monomial) term = term ? b_.CreateMul(term, atom(id, width)) : atom(id, width);
      if (c != 1) term = b_.CreateMul(term, llvm::ConstantInt::get(term->getType(), c, true));
      sum = sum ? b_.CreateAdd(sum, term) : term;
    }
    auto* type = wide(b_.getInt64Ty(), width);
    if (!sum) return llvm::ConstantInt::get(type, constant, true);
    return constant ? b_.CreateAdd(sum, llvm::ConstantInt::get(type, constant, true)) : sum;
  }

  V atom(AtomId id, int width) {
    const Atom& x = m_.pool.atom(id);
    auto fit = [&](V v) { return width > 1 && lanes(v) == 1 ? b_.CreateVectorSplat(width, v) : v; };
    switch (x.kind) {
      case AtomKind::kSymbol:
        return fit(symbols_.at(x.number));
      case AtomKind::kVar: {
        V v = fit(vars_.at(id));
        return id == vector_var_ && width > 1 ? b_.CreateAdd(v, iota(width)) : v;
      }
      case AtomKind::kValue: {
        V v = values_[x.number];
        return width == 1 && lanes(v) > 1 ? b_.CreateExtractElement(v, uint64_t{0}) : fit(v);
      }
      default:
        break;
    }
    // Uniform quotients need one division, not one per lane.
    if (width > 1 && !varies(x.a) && !varies(x.b)) return fit(atom(id, 1));
    V a = evaluate(x.a, width), c = evaluate(x.b, width);
    switch (x.kind) {
      case AtomKind::kDiv:
        return narrow_divide(x, a, c, false);
      case AtomKind::kMod:
        return narrow_divide(x, a, c, true);
      case AtomKind::kMin:
        return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, c);
      default:
        return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, c);
    }
  }

  // 32-bit division where the dividend is known to be small.
  V narrow_divide(const Atom& x, V a, V c, bool remainder) {
    const bool small = !m_.pool.at_least(x.a, int64_t{1} << 31) && m_.pool.at_least((int64_t{1} << 31) - x.a, 1) &&
                       m_.pool.at_least(x.a, 0) && m_.pool.at_least((int64_t{1} << 31) - x.b, 1);
    if (!small) {
      const bool positive = m_.pool.at_least(x.a, 0);
      if (positive) return remainder ? b_.CreateURem(a, c) : b_.CreateUDiv(a, c);
      V q = b_.CreateSDiv(a, c), r = b_.CreateSub(a, b_.CreateMul(q, c));
      V zero = llvm::ConstantInt::get(a->getType(), 0);
      V below = b_.CreateICmpSLT(r, zero);
      return remainder ? b_.CreateSelect(below, b_.CreateAdd(r, c), r)
                       : b_.CreateAdd(q, b_.CreateSExt(below, a->getType()));
    }
    auto* narrow = wide(b_.getInt32Ty(), lanes(a));
    V n = b_.CreateTrunc(a, narrow), d = b_.CreateTrunc(c, narrow);
    return b_.CreateZExt(remainder ? b_.CreateURem(n, d) : b_.CreateUDiv(n, d), a->getType());
  }

  V iota(int width, llvm::Type* element = nullptr) {
    if (!element) element = b_.getInt64Ty();
    std::vector<llvm::Constant*> lanes;
    for (int i = 0; i < width; ++i) lanes.push_back(llvm::ConstantInt::get(element, i));
    return llvm::ConstantVector::get(lanes);
  }

  // -- memory

  struct Access {
    V pointer = nullptr;   // of the first lane, or of all where they agree
    V pointers = nullptr;  // one per lane
    bool contiguous = false;
  };

  Access access(int buffer, const Index& index) {
    llvm::Type* element = memory_type(m_.buffers[buffer].dtype);
    V base = pointers_[buffer];
    if (!varies(index)) return {b_.CreateInBoundsGEP(element, base, scalar_index(index)), nullptr, false};
    Index stride = index.coefficient(vector_var_), rest = index.without(vector_var_);
    if (!varies(rest) && stride.is(1)) {
      V start = b_.CreateInBoundsGEP(element, base, scalar_index(rest));
      return {b_.CreateInBoundsGEP(element, start, vars_.at(vector_var_)), nullptr, true};
    }
    if (!varies(rest) && !varies(stride)) {
      V first = b_.CreateInBoundsGEP(element, base, scalar_index(index));
      V steps = b_.CreateMul(iota(lanes_), b_.CreateVectorSplat(lanes_, scalar_index(stride)));
      return {nullptr, b_.CreateGEP(element, first, steps), false};
    }
    return {nullptr, b_.CreateGEP(element, base, vector_index(index)), false};
  }

  V combined_mask(V predicate) {
    if (predicate && lanes_ > 1) predicate = splat(predicate);
    if (!mask_) return predicate;
    return predicate ? b_.CreateAnd(mask_, predicate) : mask_;
  }

  V load(const Value& v) {
    const DType dtype = m_.buffers[v.buffer].dtype;
    llvm::Type* element = memory_type(dtype);
    const llvm::Align align(std::max<size_t>(size_of(dtype), 1));
    Access a = access(v.buffer, v.index);
    V predicate = v.args.empty() ? nullptr : get(v.args[0]);
    if (a.pointer && !a.contiguous) {  // the same address in all lanes: loaded once, or a harmless one in its place
      if (predicate && lanes(predicate) > 1) predicate = b_.CreateOrReduce(combined_mask(predicate));
      if (predicate) a.pointer = b_.CreateSelect(predicate, a.pointer, pointers_[v.buffer]);
      return widen(b_.CreateAlignedLoad(element, a.pointer, align), dtype);
    }
    V mask = combined_mask(predicate);
    auto* type = wide(element, lanes_);
    V zero = llvm::Constant::getNullValue(type);
    if (a.contiguous)
      return widen(mask ? static_cast<V>(b_.CreateMaskedLoad(type, a.pointer, align, mask, zero))
                        : b_.CreateAlignedLoad(type, a.pointer, align),
                   dtype);
    if (!mask) mask = llvm::Constant::getAllOnesValue(wide(b_.getInt1Ty(), lanes_));
    return widen(b_.CreateMaskedGather(type, a.pointers, align, mask, zero), dtype);
  }

  // From memory's type to the register's.
  V widen(V v, DType dtype) {
    const int n = lanes(v);
    if (dtype == DType::kBool) return b_.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType()));
    if (dtype == DType::kFloat16) return b_.CreateFPExt(v, wide(b_.getFloatTy(), n));
    if (dtype != DType::kBFloat16) return v;
    auto* i32 = wide(b_.getInt32Ty(), n);
    V bits = b_.CreateShl(b_.CreateZExt(v, i32), llvm::ConstantInt::get(i32, 16));
    return b_.CreateBitCast(bits, wide(b_.getFloatTy(), n));
  }

  // To the nearest bfloat16, ties to even; NaN stays NaN.
  V to_bfloat(V v) {
    const int n = lanes(v);
    if (target_.avx512_bf16 && n == 16) {  // flushes results below 2^-126 to zero
      V half = b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_cvtneps2bf16_512, {}, {v});
      return b_.CreateBitCast(half, wide(b_.getInt16Ty(), n));
    }
    auto* i32 = wide(b_.getInt32Ty(), n);
    V bits = b_.CreateBitCast(v, i32);
    V high = b_.CreateLShr(bits, llvm::ConstantInt::get(i32, 16));
    V odd = b_.CreateAnd(high, llvm::ConstantInt::get(i32, 1));
    V rounded = b_.CreateLShr(b_.CreateAdd(b_.CreateAdd(bits, llvm::ConstantInt::get(i32, 0x7fff)), odd),
                              llvm::ConstantInt::get(i32, 16));
    V quiet = b_.CreateOr(high, llvm::ConstantInt::get(i32, 0x40));
    rounded = b_.CreateSelect(b_.CreateFCmpUNO(v, v), quiet, rounded);
    return b_.CreateTrunc(rounded, wide(b_.getInt16Ty(), n));
  }

  V to_memory(V v, DType dtype) {
    if (dtype == DType::kBool) return b_.CreateZExt(v, wide(b_.getInt8Ty(), lanes(v)));
    if (dtype == DType::kFloat16) return b_.CreateFPTrunc(v, wide(b_.getHalfTy(), lanes(v)));
    return dtype == DType::kBFloat16 ? to_bfloat(v) : v;
  }

  void store(const Stmt& s) {
    const DType dtype = m_.buffers[s.buffer].dtype;
    const llvm::Align align(std::max<size_t>(size_of(dtype), 1));
    Access a = access(s.buffer, s.index);
    V v = to_memory(get(s.value), dtype);
    if (a.pointer && !a.contiguous) {
      PD_INVARIANT(lanes_ == 1);
      b_.CreateAlignedStore(v, a.pointer, align);
      return;
    }
    v = splat(v);
    if (!a.contiguous) {
      V all = llvm::Constant::getAllOnesValue(wide(b_.getInt1Ty(), lanes_));
      b_.CreateMaskedScatter(v, a.pointers, align, mask_ ? mask_ : all);
    } else if (mask_) {
      b_.CreateMaskedStore(v, a.pointer, align, mask_);
    } else if (s.streaming && target_.streaming && streamable(s, v)) {
      auto* store = b_.CreateAlignedStore(v, a.pointer, llvm::Align(target_.vector_bytes));
      store->setMetadata(llvm::LLVMContext::MD_nontemporal,
                         llvm::MDNode::get(b_.getContext(), llvm::ConstantAsMetadata::get(b_.getInt32(1))));
      streamed_ = true;
    } else {
      b_.CreateAlignedStore(v, a.pointer, align);
    }
  }

  // Once per cache line of what the loop reads.
  void prefetch(const Stmt& s) {
    const int64_t bytes = static_cast<int64_t>(size_of(m_.buffers[s.buffer].dtype)) * lanes_;
    if (!target_.streaming || mask_ || lanes_ == 1 || (bytes < kLine && copy_ % (kLine / bytes) != 0)) return;
    Access a = access(s.buffer, s.index);
    if (!a.contiguous) return;
    for (int64_t at = 0; at < bytes; at += kLine)
      b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()},
                         {b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), a.pointer, at), b_.getInt32(0), b_.getInt32(3),
                          b_.getInt32(1)});
  }
  static constexpr int64_t kLine = 64;

  // Whole vectors at multiples of their size.
  bool streamable(const Stmt& s, V v) const {
    const int64_t bytes = static_cast<int64_t>(size_of(m_.buffers[s.buffer].dtype));
    if (v->getType()->getPrimitiveSizeInBits() != static_cast<uint64_t>(target_.vector_bytes) * 8) return false;
    const Index rest = s.index.without(vector_var_);
    for (const auto& [monomial, c] : rest.terms())
      if (c * bytes % target_.vector_bytes != 0) return false;
    return true;
  }

  // -- values

  V cast(V v, DType from, DType to) {
    auto* type = wide(type_of(to), lanes(v));
    if (to == DType::kBool) {
      V zero = llvm::Constant::getNullValue(v->getType());
      return is_float(from) ? b_.CreateFCmpUNE(v, zero) : b_.CreateICmpNE(v, zero);
    }
    const bool from_signed = is_signed_int(from);
    if (is_float(from) && is_float(to)) return b_.CreateFPCast(v, type);
    if (is_float(to)) return from_signed ? b_.CreateSIToFP(v, type) : b_.CreateUIToFP(v, type);
    if (is_float(from)) {
      if (to == DType::kUInt64) return b_.CreateFPToUI(v, type);
      // Narrow types wrap, as the conversion by way of a wide one does.
      auto* through = wide(size_of(to) < 4 ? b_.getInt32Ty() : b_.getInt64Ty(), lanes(v));
      if (to == DType::kInt32) through = type;
      return b_.CreateTruncOrBitCast(b_.CreateFPToSI(v, through), type);
    }
    return from_signed ? b_.CreateSExtOrTrunc(v, type) : b_.CreateZExtOrTrunc(v, type);
  }

  V value(const Value& v) {
    switch (v.op) {
      case ValueOp::kConst:
        return is_float(v.dtype) ? static_cast<V>(llvm::ConstantFP::get(type_of(v.dtype), v.imm))
                                 : llvm::ConstantInt::get(type_of(v.dtype), v.integer, true);
      case ValueOp::kIndex:
        return varies(v.index) ? vector_index(v.index) : scalar_index(v.index);
      case ValueOp::kLoad:
        return load(v);
      case ValueOp::kReadAcc:
        return read(accs_.at(static_cast<int>(v.integer)));
      case ValueOp::kCast: {
        if (v.integer) {  // rounds to a 16-bit float
          const DType half = static_cast<DType>(v.integer);
          return widen(to_memory(get(v.args[0]), half), half);
        }
        return cast(get(v.args[0]), m_.values[v.args[0]].dtype, v.dtype);
      }
      case ValueOp::kFn:
        break;
    }
    std::vector<V> args;
    int width = 1;
    for (ValueId a : v.args) width = std::max(width, lanes(get(a)));
    DType compute = v.dtype;
    for (ValueId a : v.args) {
      V x = get(a);
      args.push_back(width > 1 && lanes(x) == 1 ? b_.CreateVectorSplat(width, x) : x);
      compute = m_.values[a].dtype;  // all agree but for the first of `where`
    }
    if (v.fn == scalar::Fn::div && compute == DType::kFloat32 && lanes(args[0]) > 1) {
      const Value& below = m_.values[v.args[1]];
      if (below.op == ValueOp::kFn && below.fn == scalar::Fn::sqrt && lanes(get(below.args[0])) > 1)
        if (V q = math_.divide_by_root(args[0], get(below.args[0]))) return q;
    }
    return math_.call(v.fn, args, compute, v.integer != 0);
  }

  // -- accumulators

  struct Acc {
    ReduceKind kind = ReduceKind::kSum;
    DType dtype = DType::kUndefined;
    int lanes = 1, copies = 1;
    bool split = false;    // by lanes; else one value per lane of the surrounding loop
    std::vector<V> cells;  // stack cells, one per unrolled copy; promoted to registers
  };

  V identity(const Acc& a, int width) {
    Value v = identity_of(a.kind, a.dtype);
    auto* type = wide(type_of(a.dtype), width);
    return is_float(a.dtype) ? static_cast<V>(llvm::ConstantFP::get(type, v.imm))
                             : llvm::ConstantInt::get(type, v.integer, true);
  }

  V combine(const Acc& a, V x, V acc) { return math_.call(function_of(a.kind, a.dtype), {x, acc}, a.dtype); }

  void declare(const Stmt& s) {
    Acc& a = accs_.at(s.acc);
    if (!a.split) a.lanes = lanes_;
    a.cells.clear();
    llvm::IRBuilder<> entry(&f_->getEntryBlock(), f_->getEntryBlock().begin());
    for (int i = 0; i < a.copies; ++i) {
      a.cells.push_back(entry.CreateAlloca(wide(type_of(a.dtype), a.lanes)));
      b_.CreateStore(identity(a, a.lanes), a.cells.back());
    }
  }

  void update(const Stmt& s) {
    Acc& a = accs_.at(s.acc);
    V cell = a.cells.at(a.split ? copy_ % a.copies : 0);
    V x = get(s.value);
    if (a.lanes > 1 && lanes(x) == 1) x = b_.CreateVectorSplat(a.lanes, x);
    V old = b_.CreateLoad(wide(type_of(a.dtype), a.lanes), cell);
    V fresh = combine(a, x, old);
    if (mask_ && a.split) fresh = b_.CreateSelect(mask_, fresh, old);
    b_.CreateStore(fresh, cell);
  }

  V read(const Acc& a) {
    auto* type = wide(type_of(a.dtype), a.lanes);
    std::vector<V> parts;
    for (V cell : a.cells) parts.push_back(b_.CreateLoad(type, cell));
    for (size_t n = parts.size(); n > 1; n = (n + 1) / 2)
      for (size_t i = 0; i < n / 2; ++i) parts[i] = combine(a, parts[i], parts[n - 1 - i]);
    V v = parts[0];
    if (!a.split) return v;
    for (int n = a.lanes; n > 1; n /= 2) {
      std::vector<int> low, high;
      for (int i = 0; i < n / 2; ++i) low.push_back(i), high.push_back(i + n / 2);
      v = combine(a, b_.CreateShuffleVector(v, low), b_.CreateShuffleVector(v, high));
    }
    return a.lanes > 1 ? b_.CreateExtractElement(v, uint64_t{0}) : v;
  }

  // -- statements

  void statements(const std::vector<Stmt>& body) {
    for (const Stmt& s : body) switch (s.kind) {
        case StmtKind::kLet:
          values_[s.value] = value(m_.values[s.value]);
          break;
        case StmtKind::kStore:
          store(s);
          break;
        case StmtKind::kAcc:
          declare(s);
          break;
        case StmtKind::kUpdate:
          update(s);
          break;
        case StmtKind::kPrefetch:
          prefetch(s);
          break;
        case StmtKind::kFor:
          s.vectorize&& lanes_ == 1 ? vector_loop(s) : plain_loop(s);
      }
  }

  // for (i = begin; i < end; i += step) body(i); returns i after the loop.
  V counted_loop(const char* name, V begin, V end, V step, const std::function<void(V)>& body) {
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

  void plain_loop(const Stmt& s) {
    V end = scalar_index(s.extent);
    counted_loop("loop", b_.getInt64(0), end, b_.getInt64(1), [&](V i) {
      vars_[s.var] = i;
      statements(s.body);
    });
  }

  // -- unrolled copies side by side

  struct Mark {
    llvm::BasicBlock* block;
    llvm::Instruction* last;  // null: the block is empty
  };
  Mark mark_here() {
    return {b_.GetInsertBlock(), b_.GetInsertBlock()->empty() ? nullptr : &b_.GetInsertBlock()->back()};
  }

  // What was appended since; nothing if control flow came between.
  std::vector<llvm::Instruction*> since(const Mark& mark) {
    std::vector<llvm::Instruction*> out;
    if (b_.GetInsertBlock() != mark.block) return out;
    auto it = mark.last ? std::next(mark.last->getIterator()) : mark.block->begin();
    for (; it != mark.block->end(); ++it) out.push_back(&*it);
    return out;
  }

  bool separate_accumulators(const std::vector<Stmt>& body, int copies) const {
    for (const Stmt& s : body) {
      if (s.kind == StmtKind::kUpdate && (!accs_.at(s.acc).split || accs_.at(s.acc).copies < copies)) return false;
      if (s.kind == StmtKind::kFor) return false;
    }
    return true;
  }

  // Instructions of independent copies in turns: a core looks some sixty vector operations ahead, fewer than two long
  // chains one after the other.
  static void interleave(const std::vector<std::vector<llvm::Instruction*>>& parts) {
    size_t longest = 0;
    for (const auto& p : parts) {
      if (p.empty()) return;
      longest = std::max(longest, p.size());
    }
    if (parts.size() < 2) return;
    llvm::Instruction* last = parts[0][0];
    for (size_t i = 0; i < longest; ++i)
      for (const auto& p : parts)
        if (i < p.size() && p[i] != last) {
          p[i]->moveAfter(last);
          last = p[i];
        }
  }

  // Unrolled whole vectors, single vectors, and the rest under a mask.
  void vector_loop(const Stmt& s) {
    const int width = lanes_of(s);
    if (width == 1) return plain_loop(s);
    V end = scalar_index(s.extent), i = b_.getInt64(0);
    const int64_t known = s.extent.is_const() ? std::max<int64_t>(s.extent.value(), 0) : -1;
    int unroll = s.unroll;
    while (unroll > 1 && known >= 0 && known < unroll * width) unroll /= 2;
    auto whole = [&](int copies) {
      const int64_t step = static_cast<int64_t>(copies) * width;
      if (known >= 0 && known < step) return;
      V last = b_.CreateSub(end, b_.getInt64(step - 1));
      i = counted_loop(copies > 1 ? "unrolled" : "vector", i, last, b_.getInt64(step), [&](V at) {
        std::vector<std::vector<llvm::Instruction*>> parts;
        for (int c = 0; c < copies; ++c) {
          copy_ = c;
          lanes_ = width;
          vector_var_ = s.var;
          const Mark mark = mark_here();
          vars_[s.var] = c ? b_.CreateNSWAdd(at, b_.getInt64(c * width)) : at;
          statements(s.body);
          parts.push_back(since(mark));
          lanes_ = 1;
        }
        copy_ = 0;
        if (separate_accumulators(s.body, copies)) interleave(parts);
      });
    };
    if (unroll > 1) whole(unroll);
    if (known < 0 || known % (unroll * width) >= width || unroll == 1) whole(1);
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
  int lanes_ = 1, copy_ = 0;
  AtomId vector_var_ = -1;
  V mask_ = nullptr;
  bool streamed_ = false;
};

}  // namespace

void emit_kernel(const Module& module, const Kernel& kernel, const EmitTarget& target, llvm::Module& out) {
  KernelEmitter(module, kernel, target, out).run();
}

}  // namespace paddle::cinn
