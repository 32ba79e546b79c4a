#include "pir/dot.h"

#include <unordered_map>

#include "base/error.h"
#include "pir/text.h"

namespace paddle::pir {
namespace {

class Dot {
 public:
  std::string run(const Program& p) {
    out_ = "digraph program {\n  node [shape=box, fontname=\"sans-serif\", fontsize=10];\n";
    block(p.block(), 1);
    return out_ + "}\n";
  }

 private:
  void block(const Block& b, int depth) {
    for (size_t i = 0; i < b.num_args(); ++i) {
      ids_[b.arg(i)] = node(fmt::format("argument {}\n{}", i, b.arg(i).type().str()), "ellipse", depth);
    }
    for (Operation& op : b) operation(op, depth);
  }

  void operation(const Operation& op, int depth) {
    std::string label(op.name());
    for (size_t i = 0; i < op.num_results(); ++i) label += "\n" + op.result(i).type().str();
    if (op.loc().source()) label += "\n" + op.loc().str();
    std::string id = node(label, op.has(kGraphInput) ? "ellipse" : "box", depth);
    for (const OpOperand& o : op.op_operands())
      if (o.get() && ids_.count(o.get())) out_ += fmt::format("  {} -> {};\n", ids_[o.get()], id);
    for (size_t i = 0; i < op.num_results(); ++i) ids_[op.result(i)] = id;
    for (size_t r = 0; r < op.num_regions(); ++r) {
      out_ += fmt::format("  subgraph cluster_{} {{\n  label={};\n", next_++,
                          quote(fmt::format("{} region {}", op.name(), r)));
      for (size_t b = 0; b < op.region(r).size(); ++b) block(op.region(r).block(b), depth + 1);
      out_ += "  }\n";
    }
  }

  std::string node(const std::string& label, std::string_view shape, int depth) {
    std::string id = fmt::format("n{}", next_++);
    out_ += fmt::format("{:{}}{} [label={}, shape={}];\n", "", 2 * depth, id, quote(label), shape);
    return id;
  }

  std::string out_;
  std::unordered_map<Value, std::string> ids_;
  int next_ = 0;
};

}  // namespace

std::string to_dot(const Program& program) { return Dot().run(program); }

}  // namespace paddle::pir
