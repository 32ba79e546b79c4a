// OpInfo: everything that is known about an operator, derived from its record (ops/*.yaml) by tools/opgen as constexpr
// tables. Dispatch, autograd, PIR, passes, CINN and spmd ask these tables; nobody asks for an operator's name.
#pragma once
#include <span>
#include <string_view>

#include "base/scalar.h"
#include "tensor/dtype.h"

namespace paddle {

class OpCall;
struct VjpCall;

enum class ArgKind : uint8_t {
  kTensor,
  kOptTensor,
  kTensors,
  kOptTensors,  // operands
  kScalar,
  kInts,  // constant or tensor: operands in PIR where `operand` says so
  kInt,
  kFloat,
  kBool,
  kString,
  kDType,
  kPlace,  // attributes
  kIntList,
  kFloatList,
  kBoolList,
  kStringList,
  kScalarList,
  kOptInt,
  kOptFloat,
  kOptBool,
  kOptDType,  // attributes that may be absent (None)
};
constexpr bool is_tensor_kind(ArgKind k) { return k <= ArgKind::kOptTensors; }

enum class SaveKind : uint8_t { kNo, kMeta, kValue };  // what a vjp may read of it: nothing, shape and dtype, all

struct ArgInfo {
  std::string_view name;
  ArgKind kind;
  bool has_default = false;
  std::string_view default_text;  // as in the record: "-1", "\"NCHW\"", "None"
  SaveKind saved = SaveKind::kNo;
  bool operand = true;             // Scalar / Ints only: an operand in PIR (else an attribute)
  bool nondifferentiable = false;  // no gradient flows to this tensor input
  bool linear = false;             // linear_in: Partial may pass through
  bool host = false;               // host_args: the value is needed on the host
  bool promotes = false;           // takes part in type promotion: cast to the common dtype before the operator runs
  std::string_view pir_name = {};  // official pd_op's name of it
};

struct OutInfo {
  std::string_view name;
  ArgKind kind;  // kTensor, kOptTensor, kTensors
  SaveKind saved = SaveKind::kNo;
  bool intermediate = false;  // masks, statistics: not returned to Python
  bool nondifferentiable = false;
  int8_t inplace_of = -1;  // the in-place variant writes this argument
  int8_t view_of = -1;     // looks into this argument's storage
};

enum OpTraits : uint64_t {
  kElementwise = 1u << 0,  // one result element per aligned input element (after broadcasting)
  kReduction = 1u << 1,
  kView = 1u << 2,
  kRandom = 1u << 3,
  kSideEffect = 1u << 4,
  kCollective = 1u << 5,
  kPrimitive = 1u << 6,  // not decomposed further
  kNondifferentiable = 1u << 7,
  kDataDependentShape = 1u << 8,
  kNeedsKernel = 1u << 9,   // neither expr nor composition defines it
  kInplaceOnly = 1u << 10,  // optimiser updates: writes its arguments
  kCommutative = 1u << 11,
  kBroadcast = 1u << 12,       // inputs broadcast against each other
  kMatmulLike = 1u << 13,      // contractions and convolutions: the heavy work that fusion does not enter
  kIndexMap = 1u << 14,        // moves elements: reshape, transpose, slice, expand, concat, gather ...
  kFactory = 1u << 15,         // makes a tensor from no tensor (full, arange, uniform)
  kHostCopy = 1u << 16,        // runs on the CPU on every device
  kControlFlow = 1u << 17,     // owns regions
  kInplaceVariant = 1u << 18,  // `op_` exists
};

enum class AmpRule : uint8_t { kKeep, kWhite, kBlack, kPromote };
enum class Combine : uint8_t { kNone, kSum, kProd, kMax, kMin, kAny, kAll };
enum class ComplexRule : uint8_t { kUnsupported, kHolomorphic, kCustom };

// What the shape rule fills in for one output.
struct TensorMeta;
using MetaFn = void (*)(OpCall&);  // sets call.metas
using RunFn = void (*)(OpCall&);   // a composition or a kernel: sets call.outs
using VjpFn = void (*)(VjpCall&);

struct OpInfo {
  std::string_view name;    // Paddle 3's pd_op name without the dialect
  std::string_view family;  // which ops/*.yaml
  uint16_t id = 0;
  uint8_t version = 0;
  std::span<const ArgInfo> args;
  std::span<const OutInfo> outs;
  uint64_t traits = 0;
  AmpRule amp = AmpRule::kKeep;
  ComplexRule complex = ComplexRule::kUnsupported;
  Combine combine = Combine::kNone;
  const scalar::Program* expr = nullptr;  // pointwise: one program; reductions: applied before combining
  std::span<const uint8_t> expr_args;     // indices of args that are the program's inputs, then its parameters
  MetaFn meta = nullptr;
  RunFn decompose = nullptr;
  VjpFn vjp = nullptr;
  std::string_view spmd;               // the sharding string, or "rule: name"
  std::string_view local;              // name of the shard-local form, if any
  std::span<const uint8_t> pir_order;  // pd_op's order of args: operands first as official has them; empty = as args
  std::string_view legacy;             // JSON of the Paddle 2.x operator and slots
  std::string_view loops;              // naive loop nest of an operator that needs a kernel, for CINN
  bool saves_inputs = false;           // any arg saved by value: fast test for autograd
  bool promotes = false;               // some arguments have `promotes`
  bool has(uint64_t trait) const { return traits & trait; }
};

std::span<const OpInfo> all_ops();              // ordered by id
const OpInfo* find_op(std::string_view name);   // null if there is none
const OpInfo& op_named(std::string_view name);  // InternalError if there is none

}  // namespace paddle
