// Program: a module operation with one block, and the parameters it refers to by name.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "pir/operation.h"
#include "tensor/tensor.h"

namespace paddle::pir {

class Program {
 public:
  Program();
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  Program(Program&& o) noexcept;
  Program& operator=(Program&& o) noexcept;

  Operation& module() const { return *module_; }
  Region& region() const { return module_->region(0); }
  Block& block() const { return module_->region(0).front(); }
  size_t num_ops() const;  // with those in regions, without the module

  // Tensors that builtin.parameter and builtin.constant name.
  const std::map<std::string, Tensor>& parameters() const { return parameters_; }
  Tensor parameter(const std::string& name) const;  // undefined if there is none
  void set_parameter(const std::string& name, Tensor value);
  void erase_parameter(const std::string& name) { parameters_.erase(name); }

  Program clone() const;  // operations copied, parameter tensors shared
  std::string str() const;

  void walk(const std::function<void(Operation&)>& f) const { module_->walk(f); }

 private:
  Operation* module_ = nullptr;
  std::map<std::string, Tensor> parameters_;
};

// Reads what Program::str() (or print()) wrote. ValueError with line and column for anything else.
Program parse_program(std::string_view text);

}  // namespace paddle::pir
