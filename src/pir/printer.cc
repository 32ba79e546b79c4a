#include "pir/printer.h"

#include <unordered_map>

#include "base/error.h"
#include "pir/text.h"

namespace paddle::pir {
namespace {

bool is_identifier(std::string_view s) {
  if (s.empty()) return false;
  for (char c : s)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '.') return false;
  return true;
}

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  void program(const Program& p) {
    if (!p.module().attrs().empty()) {
      out_ += "attributes ";
      attributes(p.module().attrs());
      out_ += " ";
    }
    region(p.region(), 0);
    out_ += "\n";
  }

  void operation(const Operation& op, int depth) {
    indent(depth);
    out_ += "(";
    for (size_t i = 0; i < op.num_results(); ++i) {
      if (i) out_ += ", ";
      define(op.result(i));
    }
    out_ += ") = " + quote(op.name()) + " (";
    for (size_t i = 0; i < op.num_operands(); ++i) {
      if (i) out_ += ", ";
      use(op.operand(i));
    }
    out_ += ") ";
    attributes(op.attrs());
    out_ += " : (";
    for (size_t i = 0; i < op.num_operands(); ++i) {
      if (i) out_ += ", ";
      out_ += op.operand(i) ? op.operand(i).type().str() : "none";
    }
    out_ += ") ->";
    for (size_t i = 0; i < op.num_results(); ++i) out_ += (i ? ", " : " ") + op.result(i).type().str();
    if (options_.locations) out_ += " " + op.loc().text();
    for (size_t i = 0; i < op.num_regions(); ++i) {
      out_ += " ";
      region(op.region(i), depth);
    }
    out_ += "\n";
  }

  void block(const Block& b, int depth, bool header) {
    if (header) {
      indent(depth);
      out_ += "^(";
      for (size_t i = 0; i < b.num_args(); ++i) {
        if (i) out_ += ", ";
        define(b.arg(i));
        out_ += " : " + b.arg(i).type().str();
        if (!b.arg_attrs(i).empty()) {
          out_ += " ";
          attributes(b.arg_attrs(i));
        }
      }
      out_ += ")\n";
    }
    for (Operation& op : b) operation(op, depth);
  }

  std::string take() { return std::move(out_); }

 private:
  void indent(int depth) { out_.append(4 * static_cast<size_t>(depth), ' '); }

  void define(Value v) {
    std::string name = v.is_argument() ? fmt::format("%arg{}", num_args_++) : fmt::format("%{}", num_results_++);
    out_ += name;
    names_[v] = std::move(name);
  }
  void use(Value v) {
    if (!v) {
      out_ += "<<NULL VALUE>>";
      return;
    }
    auto it = names_.find(v);
    // An operation printed by itself: values from outside get a name that can't be mistaken for one inside.
    out_ += it != names_.end() ? it->second : names_.emplace(v, fmt::format("%outer{}", num_outer_++)).first->second;
  }

  void attributes(const AttrMap& attrs) {
    out_ += "{";
    bool first = true;
    for (const NamedAttr& a : attrs) {
      if (!first) out_ += ", ";
      first = false;
      out_ += is_identifier(a.name.str()) ? std::string(a.name.str()) : quote(a.name.str());
      out_ += ": ";
      if (a.value.kind() == AttrKind::kDense && options_.max_dense &&
          a.value.as_dense().bytes.size() > options_.max_dense) {
        const DenseData& d = a.value.as_dense();
        out_ += "dense<" + Type::tensor(d.dtype, Shape(d.shape.begin(), d.shape.end())).str() + ", ...>";
      } else {
        out_ += a.value.str();
      }
    }
    out_ += "}";
  }

  void region(const Region& r, int depth) {
    out_ += "{";
    if (r.empty()) {
      out_ += "}";
      return;
    }
    out_ += "\n";
    for (size_t i = 0; i < r.size(); ++i) {
      const Block& b = r.block(i);
      block(b, depth + 1, i > 0 || b.num_args() > 0 || b.empty());
    }
    indent(depth);
    out_ += "}";
  }

  const PrintOptions& options_;
  std::string out_;
  std::unordered_map<Value, std::string> names_;
  size_t num_results_ = 0, num_args_ = 0, num_outer_ = 0;
};

}  // namespace

std::string print(const Program& program, const PrintOptions& options) {
  Printer p(options);
  p.program(program);
  return p.take();
}

std::string print(const Operation& op, const PrintOptions& options) {
  Printer p(options);
  p.operation(op, 0);
  std::string s = p.take();
  s.pop_back();
  return s;
}

std::string print(const Block& block, const PrintOptions& options) {
  Printer p(options);
  p.block(block, 0, block.num_args() > 0);
  return p.take();
}

}  // namespace paddle::pir
