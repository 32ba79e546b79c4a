#include "cinn/loop/ast.h"

#include <fmt/format.h>

#include <limits>

namespace paddle::cinn {
namespace {

std::string buffer_name(const Buffer& b) {
  constexpr const char* names[] = {"in", "out", "temp", "scratch"};
  return fmt::format("{}{}", names[static_cast<int>(b.role)], b.slot);
}

class Printer {
 public:
  explicit Printer(const Module& m) : m_(m) {}

  std::string module() {
    for (const Buffer& b : m_.buffers)
      out_ += fmt::format("{}: {}[{}]\n", buffer_name(b), name_of(b.dtype), m_.pool.str(b.size));
    for (const Kernel& k : m_.kernels) {
      out_ += fmt::format("kernel {}: parallel {} < {}{}\n", k.name, m_.pool.str(Index::of_atom(k.parallel_var)),
                          m_.pool.str(k.parallel_extent), k.when.is(1) ? "" : " when " + m_.pool.str(k.when));
      block(k.body, 1);
    }
    return std::move(out_);
  }

 private:
  std::string value(const Value& v) {
    switch (v.op) {
      case ValueOp::kConst:
        return is_float(v.dtype) ? fmt::format("{}", v.imm) : fmt::format("{}", v.integer);
      case ValueOp::kIndex:
        return m_.pool.str(v.index);
      case ValueOp::kLoad: {
        std::string s = fmt::format("{}[{}]", buffer_name(m_.buffers[v.buffer]), m_.pool.str(v.index));
        return v.args.empty() ? s : fmt::format("{} if v{}", s, v.args[0]);
      }
      case ValueOp::kCast:
        return fmt::format("{}(v{})", name_of(v.dtype), v.args[0]);
      case ValueOp::kFn:
        return fmt::format("{}{}{}{}(v{})", scalar::info(v.fn).name, v.integer & kCoarse ? "~" : "",
                           v.integer & kNotPositive ? "-" : "", v.integer & kOrdinary ? "+" : "",
                           fmt::join(v.args, ", v"));
      case ValueOp::kReadAcc:
        return fmt::format("acc{}", v.integer);
    }
    return {};
  }

  void block(const std::vector<Stmt>& body, int depth) {
    for (const Stmt& s : body) {
      out_.append(2 * depth, ' ');
      switch (s.kind) {
        case StmtKind::kLet:
          out_ += fmt::format("v{}: {} = {}\n", s.value, name_of(m_.values[s.value].dtype), value(m_.values[s.value]));
          break;
        case StmtKind::kStore:
          out_ += fmt::format("{}[{}] = v{}{}\n", buffer_name(m_.buffers[s.buffer]), m_.pool.str(s.index), s.value,
                              s.streaming ? " (streaming)" : "");
          break;
        case StmtKind::kPrefetch:
          out_ += fmt::format("prefetch{} {}[{}]\n", s.level > 1 ? " far" : "", buffer_name(m_.buffers[s.buffer]),
                              m_.pool.str(s.index));
          break;
        case StmtKind::kFor:
          out_ += fmt::format("for {} < {}{}{}{}\n", m_.pool.str(Index::of_atom(s.var)), m_.pool.str(s.extent),
                              s.vectorize ? " vectorize" : "", s.unroll > 1 ? fmt::format(" unroll {}", s.unroll) : "",
                              s.streams > 1 ? fmt::format(" streams {}", s.streams) : "");
          block(s.body, depth + 1);
          break;
        case StmtKind::kAcc:
          out_ += fmt::format("acc{}: {} = {} of nothing\n", s.acc, name_of(s.dtype), name_of(s.reduce));
          break;
        case StmtKind::kUpdate:
          out_ += fmt::format("acc{} = {}(acc{}, v{})\n", s.acc, name_of(s.reduce), s.acc, s.value);
      }
    }
  }

  const Module& m_;
  std::string out_;
};

template <class T>
void set_limits(Value& v, bool lowest) {
  v.integer = static_cast<int64_t>(lowest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max());
}

void set_integer_limit(Value& v, bool lowest) {
  switch (v.dtype) {
    case DType::kBool:
      v.integer = lowest ? 0 : 1;
      break;
    case DType::kUInt8:
      set_limits<uint8_t>(v, lowest);
      break;
    case DType::kInt8:
      set_limits<int8_t>(v, lowest);
      break;
    case DType::kInt16:
      set_limits<int16_t>(v, lowest);
      break;
    case DType::kInt32:
      set_limits<int32_t>(v, lowest);
      break;
    case DType::kUInt32:
      set_limits<uint32_t>(v, lowest);
      break;
    case DType::kUInt64:
      set_limits<uint64_t>(v, lowest);
      break;
    default:
      set_limits<int64_t>(v, lowest);
  }
}

}  // namespace

std::string Module::str() const { return Printer(*this).module(); }

Value identity_of(ReduceKind kind, DType dtype) {
  Value v{ValueOp::kConst, dtype};
  const double inf = std::numeric_limits<double>::infinity();
  switch (kind) {
    case ReduceKind::kSum:
      break;
    case ReduceKind::kAny:
      break;
    case ReduceKind::kProd:
    case ReduceKind::kAll:
      v.imm = 1, v.integer = 1;
      break;
    case ReduceKind::kMax:
      v.imm = -inf, set_integer_limit(v, true);
      break;
    case ReduceKind::kMin:
      v.imm = inf, set_integer_limit(v, false);
      break;
  }
  return v;
}

scalar::Fn function_of(ReduceKind kind, DType dtype) {
  switch (kind) {
    case ReduceKind::kSum:
      return scalar::Fn::add;
    case ReduceKind::kProd:
      return scalar::Fn::mul;
    case ReduceKind::kMax:
      return dtype == DType::kBool ? scalar::Fn::logical_or : scalar::Fn::max;
    case ReduceKind::kMin:
      return dtype == DType::kBool ? scalar::Fn::logical_and : scalar::Fn::min;
    case ReduceKind::kAny:
      return scalar::Fn::logical_or;
    default:
      return scalar::Fn::logical_and;
  }
}

}  // namespace paddle::cinn
