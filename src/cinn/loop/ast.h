// The loop AST: kernels of loops, loads, stores and scalar values. Its meaning is scalar and sequential; what the
// schedule decided (vectorise, unroll, stream) is annotation that a code generator may ignore.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/scalar.h"
#include "cinn/compute/group.h"

namespace paddle::cinn {

using ValueId = int32_t;

enum class ValueOp : uint8_t {
  kConst,    // imm, or integer for integer types
  kIndex,    // an index expression as int64
  kLoad,     // buffer[index]; with args[0], only where that truth value holds (elsewhere unspecified)
  kCast,     // to dtype
  kFn,       // scalar function; dtype is the compute type, kBool for boolean functions; integer: FnTraits
  kReadAcc,  // final value of accumulator `integer`
};

// What code for a function may make use of, and must heed.
enum FnTraits : int64_t {
  kCoarse = 1,       // the result counts as a 16-bit float: a relative error of 2^-13 does no harm
  kNotPositive = 2,  // the operand of exp or exp2 is at most 0, or NaN
  kOrdinary = 4,     // the result of exp or exp2 is a normal number, or NaN
  kRoundsAlone = 8,  // no operand is made part of it without having been rounded
};

// A value in a register: bool (a truth value), an integer type, f32 or f64. 16-bit floats exist in memory only.
struct Value {
  ValueOp op;
  DType dtype;
  scalar::Fn fn = scalar::Fn::constant;
  std::vector<ValueId> args;
  double imm = 0;
  int64_t integer = 0;
  int buffer = -1;
  Index index;
};

enum class StmtKind : uint8_t {
  kLet,
  kStore,
  kFor,
  kAcc,
  kUpdate,
  kPrefetch,  // buffer[index] will be read soon, and may lie outside: a hint that may be ignored
};

struct Stmt {
  StmtKind kind;
  ValueId value = -1;      // kLet: defines it; kStore, kUpdate: what is stored or combined
  int buffer = -1;         // kStore, kPrefetch
  Index index;             // kStore, kPrefetch
  bool streaming = false;  // kStore: around the cache
  int level = 1;           // kPrefetch: into the cache of this level
  AtomId var = -1;         // kFor: runs over [0, extent)
  Index extent;
  bool vectorize = false;  // kFor: iterations are independent but for accumulators, which may be split by lanes
  int unroll = 1;
  int streams = 1;         // kFor, vectorize: read at so many places at once, each the start of an equal part
  std::vector<Stmt> body;  // kFor
  int acc = -1;            // kAcc, kUpdate: number of the accumulator
  ReduceKind reduce = ReduceKind::kSum;
  DType dtype = DType::kUndefined;  // kAcc
};

enum class BufferRole : uint8_t { kInput, kOutput, kTemp, kScratch };

struct Buffer {
  BufferRole role;
  int slot;  // inputs, outputs, temporaries: counted from 0 each
  DType dtype;
  Index size;    // elements
  Index offset;  // bytes from the start: of the workspace (kTemp), of the thread's scratch memory (kScratch)
};

struct Kernel {
  std::string name;
  Index parallel_extent;  // iterations of the outermost loop, any contiguous range of which may run by itself
  AtomId parallel_var = -1;
  std::vector<Stmt> body;  // one such iteration
  Index work;              // scalar operations of one iteration, roughly: decides how many threads are worth it
  // On devices with groups of threads: a group computes an iteration, and its threads share out the loops that are
  // marked vectorize. Else a thread computes one.
  bool by_group = false;
  Index when = 1;   // it runs in calls whose sizes make this 1, not where they make it 0
  std::string why;  // what keeps it apart from the kernels before, for people
};

// Everything that one group compiles to. Kernels run one after the other, each over all its parallel iterations.
struct Module {
  IndexPool pool;
  std::vector<Buffer> buffers;
  std::vector<Value> values;
  std::vector<Kernel> kernels;
  int num_inputs = 0, num_outputs = 0, num_symbols = 0;
  Index workspace_bytes;  // for temporaries, shared by all threads
  Index scratch_bytes;    // per thread
  std::string str() const;
};

// What combining starts from, and the combining function, in the accumulator's type.
Value identity_of(ReduceKind kind, DType dtype);
scalar::Fn function_of(ReduceKind kind, DType dtype);

}  // namespace paddle::cinn
