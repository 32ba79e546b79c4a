// Emitter: appends statements to nested scopes, and makes each value once, in the outermost scope that its operands
// allow.
#pragma once
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "cinn/loop/ast.h"
#include "cinn/loop/bounds.h"

namespace paddle::cinn {

// 16-bit floats live in registers as f32.
inline DType register_type(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16 ? DType::kFloat32 : t; }

class Emitter {
 public:
  explicit Emitter(Module& module) : m_(module), bounds_(module) {}

  // A kernel's body is the outermost scope.
  void begin_kernel(AtomId parallel_var);
  std::vector<Stmt> end_kernel();

  // Loops. open_loop returns the variable; the loop is appended to the enclosing scope when it is closed.
  // unroll: kByCost decides when the body is known, the cheaper the more.
  static constexpr int kByCost = 0;
  Index open_loop(const Index& extent, bool vectorize, int unroll);
  void close_loop();
  void read_in_streams(int count) { scopes_.back().loop.streams = count; }  // the innermost loop that is open
  int depth() const { return static_cast<int>(scopes_.size()) - 1; }
  bool vectorizing() const;  // a loop that is open will run in vectors

  // Runs fn with everything deeper than `depth` put aside: what it appends comes before the loops that are open there.
  template <class Fn>
  auto at_depth(int depth, Fn&& fn) {
    std::vector<Scope> aside;
    while (this->depth() > depth) {
      aside.push_back(std::move(scopes_.back()));
      scopes_.pop_back();
    }
    auto result = fn();
    for (; !aside.empty(); aside.pop_back()) scopes_.push_back(std::move(aside.back()));
    return result;
  }

  int new_accumulator(ReduceKind kind, DType dtype);
  void update(int acc, ReduceKind kind, ValueId value);
  ValueId read(int acc, DType dtype);  // after the loops that update it
  void store(int buffer, const Index& index, ValueId value, bool streaming);
  // In the innermost loop that is open: what its loads of input buffers will want `step` of `var` later, into the cache
  // of `level`.
  void prefetch_loads(AtomId var, int64_t step, int level);

  // Values. Simplified where that is exact.
  ValueId constant(DType dtype, double value);
  ValueId constant_int(DType dtype, int64_t value);
  ValueId index(const Index& index);  // int64
  ValueId load(int buffer, const Index& index, ValueId predicate);
  ValueId cast(ValueId value, DType dtype);
  ValueId round(ValueId value, DType half);  // to the nearest value that a 16-bit float can hold
  ValueId fn(scalar::Fn fn, std::vector<ValueId> args, DType compute, bool coarse = false);
  // a - b, where mathematics says that it is not positive: rounded such that it is not.
  ValueId sub_not_positive(ValueId a, ValueId b, DType compute);
  Index as_index(ValueId value, const Index& extent);  // an integer value in [0, extent) as part of indices

  // v is NaN or between these.
  void bound(ValueId v, double low, double high) { bounds_.narrow(v, low, high); }

  const Value& value(ValueId v) const { return m_.values[v]; }
  bool alive(ValueId v) const;             // defined in a scope that is still open
  int depth_of(const Index& index) const;  // of the innermost variable in it

 private:
  struct Scope {
    int id;
    Stmt loop;
    std::vector<Stmt> body;
  };
  struct Place {
    int scope_id;
    int depth;
  };
  using Key = std::tuple<ValueOp, DType, scalar::Fn, std::vector<ValueId>, int64_t, int64_t, int, Index>;

  ValueId make(Value v);
  double cost_of(const std::vector<Stmt>& body) const;
  std::optional<ValueId> simplified(scalar::Fn fn, const std::vector<ValueId>& args, DType compute);
  ValueId divide(ValueId a, ValueId b, DType compute);
  bool is_constant(ValueId v, double x) const;

  Module& m_;
  Bounds bounds_;
  std::vector<Scope> scopes_;
  std::vector<Place> places_;  // per value
  std::map<AtomId, int> var_depth_;
  std::map<int, int> acc_depth_;
  std::map<Key, ValueId> known_;
  int next_scope_ = 0, next_acc_ = 0;
};

}  // namespace paddle::cinn
