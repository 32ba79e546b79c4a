// Inside of the executor: instructions and frames.
#pragma once
#include <mutex>
#include <optional>
#include <unordered_map>

#include "api/shard.h"
#include "cinn/group/fuse.h"
#include "executor/executable.h"
#include "executor/message.h"
#include "pir/op_args.h"

namespace paddle::executor {

enum class Kind : uint8_t {
  kKernel,  // an operator's kernel or composition
  kGroup,   // a compiled group
  kCombine,
  kSplit,
  kListItem,
  kAlias,  // the result is the operand
  kConstant,
  kIf,
  kWhile,
  kHold,  // the body's results, kept until an operand is another one
  kArrayCreate,
  kArrayWrite,
  kArrayRead,
  kArrayLength,
  kArrayPop,
  kArrayStack,
  kArrayConcat,
  kArrayZerosLike,
  kArrayAdd,
  kArrayAddAt,
  kArrayInsert,
  kArrayUnwrite,
  kArrayUnstack,
  kArraySplit,
  kStackCreate,
  kStackCopy,
  kPush,
  kPop,
  kHasElements,
  kAssert,
  kPrint,
  kHostCall,
};

// How an argument of a kernel is made from the frame.
struct Patch {
  enum Kind : uint8_t { kTensor, kTensors, kScalar, kWholeInts, kListInts, kSymbolicInts, kSymbolicScalar } kind;
  uint8_t arg;
  uint32_t slot;  // tensor slot or list slot; with `one`: a tensor slot taken as a list of one
  bool one = false;
};

struct SymbolBinding {
  uint32_t slot, axis, symbol;  // the symbol's value is this extent of the tensor in the slot
};

// What the program says of a tensor that no shape rule vouches for: an input, a loop's variable, a branch's result.
// Compiled groups, prepared calls and the arena's layout trust it, so it is compared when the tensor comes.
struct TypeCheck {
  uint32_t slot;
  DType dtype;
  std::vector<Dim> sizes;  // -1: not known before
  std::string what;        // "input 0 \"x\"": for the message
};

// An operand's size that isn't the result's by itself: the shape rule took on trust that they agree.
struct SizeAgreement {
  Dim operand, result;
  const pir::Operation* op;
};

constexpr uint32_t kNone = UINT32_MAX;

struct Code;

// Which elements a tensor held when something was made of them.
struct SeenTensor {
  Ref<Storage> storage;
  Strides strides;
  int64_t offset = 0;
  uint32_t version = 0;
  explicit SeenTensor(const Tensor& t)
      : storage(t->storage), strides(t.strides()), offset(t->offset), version(t->storage->version()) {}
  bool still(const Tensor& t) const {
    return storage == t->storage && offset == t->offset && version == t->storage->version() && strides == t.strides();
  }
};

// The results of a kHold, for all frames.
struct HeldResults {
  std::mutex mutex;
  std::vector<SeenTensor> of;
  std::vector<OutSlot> values;
};

struct Instruction {
  Kind kind = Kind::kKernel;
  uint32_t id = 0, end = 0;    // in the order of the program; end: of the last inside of its regions
  uint32_t workspace = kNone;  // kGroup: which buffer of the arena
  bool static_metas = false;
  bool prepared = false;  // with its call kept from run to run (frame.h)
  bool random = false, replayed = false;
  std::optional<int64_t> named_key;      // pir::kRandomKey
  std::shared_ptr<ShardGeometry> shard;  // random operators of partitioned programs: which part of the whole they draw
  bool view = false;
  bool in_order = false;  // its operand's elements are meant in row-major order, however they lie
  // kGroup, per result: the operand whose memory it takes with it out of the run, if nobody else holds that; kNone.
  std::vector<uint32_t> takes;
  int8_t reuse = -1;  // operand (by patch) whose memory the first output may take over: elementwise, last use; where
                      // both are in the arena, the plan has settled it
  const OpInfo* op = nullptr;
  RunFn kernel = nullptr;      // null: the composition
  uint64_t constant_args = 0;  // those that stay from run to run, where the program keeps its weights
  std::vector<Arg> args;       // templates; patched per run
  std::vector<Patch> patches;
  std::shared_ptr<pir::BoundArgs> bound;  // owns what templates borrow
  std::vector<uint32_t> operands;         // slots; of lists where lists are meant
  std::vector<uint32_t> results;          // kNone: unused
  std::vector<uint8_t> result_lists;      // per result: a list
  std::vector<TensorMeta> metas;          // per result of a kernel or group; sizes may be symbolic
  std::vector<std::vector<TensorMeta>> list_metas;
  struct Target {
    uint8_t out, arg;
    bool in_place;  // else: a copy of the argument is written
  };
  std::vector<Target> targets;              // operators that overwrite arguments
  std::vector<uint32_t> frees, list_frees;  // slots that die here
  std::vector<SymbolBinding> binds;
  std::vector<TypeCheck> checks;          // before binds
  std::vector<SizeAgreement> agreements;  // kGroup and prepared kernels, which run no shape rule
  std::unique_ptr<Code> body, otherwise;  // kIf: both; kWhile, kHold: body
  std::shared_ptr<HeldResults> held;      // kHold
  cinn::CompiledRegion group;
  Tensor constant;
  std::shared_ptr<const Message> message;  // kPrint, kAssert
  int64_t number = 0;                      // axis, index
  std::string where;                       // location, for errors
  pir::Operation* source = nullptr;
};

struct Code {
  std::vector<Instruction> list;
  std::vector<uint32_t> args, arg_is_list;  // of the block
  std::vector<uint32_t> yields, yield_is_list;
  std::vector<SymbolBinding> arg_binds;
  std::vector<TypeCheck> arg_checks;
};

}  // namespace paddle::executor
