#include "pir/program.h"

#include "base/error.h"
#include "pir/clone.h"
#include "pir/printer.h"

namespace paddle::pir {

Program::Program() : module_(Operation::create(op_def("builtin.module"), {}, {}, {}, 1, Location::unknown())) {
  module_->region(0).add_block();
}

Program::~Program() {
  if (module_) module_->destroy();
}

Program::Program(Program&& o) noexcept
    : module_(std::exchange(o.module_, nullptr)), parameters_(std::move(o.parameters_)) {}

Program& Program::operator=(Program&& o) noexcept {
  std::swap(module_, o.module_);
  std::swap(parameters_, o.parameters_);
  return *this;
}

size_t Program::num_ops() const {
  size_t n = 0;
  walk([&](Operation&) { ++n; });
  return n - 1;
}

Tensor Program::parameter(const std::string& name) const {
  auto it = parameters_.find(name);
  return it == parameters_.end() ? Tensor() : it->second;
}

void Program::set_parameter(const std::string& name, Tensor value) { parameters_[name] = std::move(value); }

Program Program::clone() const {
  Program p;
  ValueMap map;
  p.module_->set_attrs(module_->attrs());
  clone_block(block(), p.block(), map);
  p.parameters_ = parameters_;
  return p;
}

std::string Program::str() const { return print(*this); }

}  // namespace paddle::pir
