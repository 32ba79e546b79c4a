#include "compile/segments.h"

#include <unordered_map>

#include "compile/runner.h"
#include "passes/passes.h"
#include "pir/dominance.h"

namespace paddle::compile {
namespace {

using pir::Operation;
using pir::Value;

class KeyWriter {
 public:
  explicit KeyWriter(const dispatch::CapturedProgram& program) : program_(program) {}

  // Equal for programs that are the same function up to the values of `numbers`: names of symbols and tensors don't
  // count, parameters do by identity.
  std::string run() {
    block(program_.program.block());
    for (const auto& i : program_.inputs) text_ += i.stop_gradient ? 's' : 'g';
    for (bool stop : program_.output_stop_gradient) text_ += stop ? 's' : 'g';
    for (bool spent : program_.output_spent) text_ += spent ? 'f' : 'l';
    for (const auto& w : program_.input_writes) text_ += ";w" + std::to_string(w.input);
    for (const auto& s : program_.same_tensors)
      text_ += fmt::format(";o{}={}", s.output, s.parameter.empty() ? std::to_string(s.input) : identity(s.parameter));
    return std::move(text_);
  }

  std::vector<Operation*> numbers;  // pd_op.full of a floating point number
  std::vector<std::string> values;  // theirs

 private:
  static bool is_number(const Operation& op) {
    return op.is("pd_op.full") && op.result().type().is_tensor() && is_inexact(op.result().dtype()) &&
           is_static(view(op.result().shape()));
  }

  std::string identity(const std::string& parameter) const {
    return fmt::format("p{}", reinterpret_cast<uintptr_t>(program_.program.parameter(parameter).impl()));
  }

  void block(const pir::Block& b) {
    text_ += "{";
    for (Value v : b.args()) define(v);
    for (Operation& op : b) operation(op);
    text_ += "}";
  }

  void operation(Operation& op) {
    text_ += op.name();
    text_ += "(";
    for (Value v : op.operands()) text_ += v ? std::to_string(numbers_.at(v)) + "," : "-,";
    text_ += ")[";
    bool parameter = op.is("builtin.parameter") || op.is("builtin.set_parameter");
    if (parameter) text_ += identity(op.attr("parameter_name").as_string());
    bool number = is_number(op);
    for (const pir::NamedAttr& a : op.attrs()) {
      if (number && a.name == "value") {
        numbers.push_back(&op);
        values.push_back(a.value.str());
        continue;
      }
      // What things are called means nothing.
      if ((parameter && a.name == "parameter_name") || (op.is("pd_op.data") && a.name == "name")) continue;
      text_ += std::string(a.name.str()) + "=";
      renamed(a.value.str());
      text_ += ";";
    }
    text_ += "]";
    for (size_t r = 0; r < op.num_regions(); ++r)
      for (size_t k = 0; k < op.region(r).size(); ++k) block(op.region(r).block(k));
    for (Value v : op.results_vector()) define(v);
    text_ += "\n";
  }

  void define(Value v) {
    numbers_.emplace(v, numbers_.size());
    text_ += ":";
    if (v.type()) renamed(v.type().str());
  }

  // Symbols by the order in which they appear.
  void renamed(const std::string& s) {
    for (size_t i = 0; i < s.size(); ++i) {
      size_t end = i + 1;
      while (end < s.size() && std::isdigit(static_cast<unsigned char>(s[end]))) ++end;
      bool word = i > 0 && (std::isalnum(static_cast<unsigned char>(s[i - 1])) && s[i - 1] != 'x');
      if (s[i] != 'S' || word || end == i + 1) {
        text_ += s[i];
        continue;
      }
      auto [it, fresh] = symbols_.emplace(s.substr(i, end - i), symbols_.size());
      text_ += "S#" + std::to_string(it->second);
      i = end - 1;
    }
  }

  const dispatch::CapturedProgram& program_;
  std::unordered_map<Value, size_t> numbers_;
  std::unordered_map<std::string, size_t> symbols_;
  std::string text_;
};

// The number becomes an input.
void lift(Operation& op, dispatch::CapturedProgram& program, Tensors& inputs) {
  inputs.push_back(passes::evaluate_eagerly(op, {})[0].tensor);
  Operation* top = pir::ancestor_in(program.program.block(), &op);
  pir::Type type = op.result().type();
  std::string name = "number_" + std::to_string(program.inputs.size());
  pir::Builder b;
  b.before(top);
  Value in = b.create("pd_op.data", {},
                      {{"name", pir::Attribute::string(name)},
                       {"shape", pir::Attribute::ints(view(type.shape()))},
                       {"dtype", pir::Attribute::dtype(type.dtype())},
                       {"place", pir::Attribute::undefined_place()}},
                      {type})
                 ->result();
  in.set_stop_gradient(true);
  op.result().replace_all_uses_with(in);
  op.erase();
  program.inputs.push_back({name, type.shape(), type.dtype(), true});
}

}  // namespace

std::shared_ptr<Runner> SegmentCache::find(dispatch::CapturedProgram&& program, Tensors& inputs, bool& fresh) {
  std::lock_guard lock(mutex_);
  KeyWriter form(program);
  std::string key = form.run();
  Numbers& seen = numbers_[key];
  if (seen.first.empty() && !form.values.empty()) {
    seen.first = form.values;
    seen.vary.resize(form.values.size());
  }
  for (size_t i = 0; i < form.values.size(); ++i) {
    if (form.values[i] != seen.first[i]) seen.vary[i] = true;
    key += seen.vary[i] ? ";*" : ";" + form.values[i];
  }
  for (size_t i = 0; i < form.values.size(); ++i)
    if (seen.vary[i]) lift(*form.numbers[i], program, inputs);
  std::vector<Shape> shapes;
  for (const Tensor& t : inputs) shapes.push_back(t.shape());
  auto& candidates = known_[key];
  for (const auto& r : candidates)
    if (r->accepts(shapes)) {
      fresh = false;
      return r;
    }
  fresh = true;
  candidates.push_back(std::make_shared<Runner>(std::move(program), options_));
  return candidates.back();
}

size_t SegmentCache::size() const {
  std::lock_guard lock(mutex_);
  size_t n = 0;
  for (const auto& [key, list] : known_) n += list.size();
  return n;
}

}  // namespace paddle::compile
