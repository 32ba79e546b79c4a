// Reads the text form (printer.h). Hostile text ends in a typed error with line and column.
#include <unordered_map>

#include "pir/parse_attr.h"
#include "pir/program.h"

namespace paddle::pir {
namespace {

struct Owner {  // an operation that no block owns yet
  Operation* op;
  ~Owner() {
    if (op) op->destroy();
  }
};

class Parser {
 public:
  explicit Parser(std::string_view text) : in_(text) {}

  Program program() {
    Program p;
    if (in_.take("attributes")) p.module().set_attrs(parse_attributes(in_));
    Region body;
    region(body);
    if (!in_.at_end()) in_.bad("the end of the text");
    if (body.size() > 1) in_.bad("a program of one block");
    if (body.size() == 1) {
      if (body.front().num_args()) in_.bad("a program without arguments");
      Block& from = body.front();
      while (!from.empty()) p.block().push_back(from.remove(from.front()));
    }
    return p;
  }

 private:
  void region(Region& r) {
    Reader::Deeper deeper(in_);
    in_.expect("{");
    while (!in_.take("}")) {
      Block& b = r.add_block();
      if (in_.take("^")) arguments(b);
      while (in_.peek() == '(') operation(b);
      if (in_.peek() != '^' && in_.peek() != '}') in_.bad("an operation, a block or \"}\"");
    }
  }

  void arguments(Block& b) {
    in_.expect("(");
    while (!in_.take(")")) {
      if (b.num_args()) in_.expect(",");
      size_t start = in_.position();
      std::string name = value_name();
      in_.expect(":");
      Value v = b.add_arg(parse_type(in_));
      define(start, name, v);
      if (in_.peek() == '{') b.arg_attrs(b.num_args() - 1) = parse_attributes(in_);
    }
  }

  std::string value_name() {
    in_.expect("%");
    if (in_.at_integer()) return std::to_string(in_.integer());
    return std::string(in_.word());
  }

  void define(size_t position, const std::string& name, Value v) {
    if (!values_.emplace(name, v).second)
      in_.error_at(position, ErrorKind::kValue, fmt::format("%{} is defined twice", name));
  }

  void operation(Block& block) {
    std::vector<std::pair<size_t, std::string>> result_names;
    in_.expect("(");
    while (!in_.take(")")) {
      if (!result_names.empty()) in_.expect(",");
      size_t start = in_.position();
      result_names.emplace_back(start, value_name());
    }
    in_.expect("=");
    const OpDef& def = op_name();
    size_t operands_at = in_.position();
    std::vector<Value> operands = operand_list();
    AttrMap attrs = parse_attributes(in_);
    in_.expect(":");
    operand_types(operands_at, operands);
    in_.expect("->");
    std::vector<Type> types;
    for (size_t i = 0; i < result_names.size(); ++i) {
      if (i) in_.expect(",");
      types.push_back(parse_type(in_));
    }
    Location loc;
    if (in_.peek_word() == "loc") loc = parse_location(in_);
    // Regions are parsed before there is an operation to own them; it takes their blocks.
    std::vector<std::unique_ptr<Region>> regions;
    while (in_.peek() == '{') {
      regions.push_back(std::make_unique<Region>());
      region(*regions.back());
    }
    Owner owner{Operation::create(def, operands, std::move(attrs), types, regions.size(), loc)};
    for (size_t i = 0; i < regions.size(); ++i) owner.op->region(i).take_blocks(*regions[i]);
    for (size_t i = 0; i < result_names.size(); ++i)
      define(result_names[i].first, result_names[i].second, owner.op->result(i));
    block.push_back(std::exchange(owner.op, nullptr));
  }

  const OpDef& op_name() {
    size_t start = in_.position();
    std::string name = in_.string();
    try {
      return op_def(name);
    } catch (const Error& e) {
      in_.error_at(start, e.kind(), e.what());
    }
  }

  std::vector<Value> operand_list() {
    std::vector<Value> operands;
    in_.expect("(");
    while (!in_.take(")")) {
      if (!operands.empty()) in_.expect(",");
      if (in_.take("<<NULL VALUE>>")) {
        operands.push_back(Value());
        continue;
      }
      size_t start = in_.position();
      std::string name = value_name();
      auto it = values_.find(name);
      if (it == values_.end())
        in_.error_at(start, ErrorKind::kValue, fmt::format("%{} is used before it is defined", name));
      operands.push_back(it->second);
    }
    return operands;
  }

  void operand_types(size_t start, const std::vector<Value>& operands) {
    in_.expect("(");
    for (size_t i = 0; i < operands.size(); ++i) {
      if (i) in_.expect(",");
      Type t = parse_type(in_);
      Type has = operands[i] ? operands[i].type() : Type();
      if (t != has)
        in_.error_at(start, ErrorKind::kValue, fmt::format("operand {} has type {}, not {}", i, has.str(), t.str()));
    }
    in_.expect(")");
  }

  Reader in_;
  std::unordered_map<std::string, Value> values_;
};

}  // namespace

Program parse_program(std::string_view text) { return Parser(text).program(); }

}  // namespace paddle::pir
