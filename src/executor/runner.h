// Runner: what each instruction does to a frame.
#pragma once
#include "executor/frame.h"

namespace paddle::executor {

class Runner {
 public:
  explicit Runner(Frame& f);
  void run(const Code& code);

 private:
  Tensor& tensor(const Instruction& i, size_t k) { return f_.tensors[i.operands[k]]; }
  Tensors& list(const Instruction& i, size_t k) { return f_.lists[i.operands[k]]; }
  Tensor& result(const Instruction& i, size_t k = 0) { return f_.tensors[i.results[k]]; }
  Tensors& list_result(const Instruction& i, size_t k = 0) { return f_.lists[i.results[k]]; }

  void run_each(const Code& code, const Instruction*& at);
  void step(const Instruction& i);
  void profiled_step(const Instruction& i);
  void check_numbers(const Instruction& i);
  // Lists, stacks, asserts.
  void split(const Instruction& i);
  void combine(const Instruction& i);
  size_t index(const Instruction& i, size_t size);
  void array_write(const Instruction& i);
  void array_pop(const Instruction& i);
  void array_length(const Instruction& i);
  void push(const Instruction& i);
  void pop(const Instruction& i);
  void assertion(const Instruction& i);
  // Regions.
  void bind(const std::vector<SymbolBinding>& binds);
  void take_yields(const Code& c, std::vector<OutSlot>& out);
  void put(const std::vector<uint32_t>& slots, const std::vector<uint8_t>& lists, std::vector<OutSlot>& from,
           size_t first);
  void branch(const Instruction& i);
  void loop(const Instruction& i);
  void hold(const Instruction& i);
  // Compiled groups and kernels (run_kernels.cc).
  void group(const Instruction& i);
  void launch(const Instruction& i, PreparedGroup& p);
  Tensor taken(const Instruction& i, size_t k, const PreparedGroup& p);
  void kernel(const Instruction& i);
  void prepared_kernel(const Instruction& i, PreparedCall& p);
  bool held_kernel(const Instruction& i, PreparedCall& p);
  void any_kernel(const Instruction& i);
  RandomKey draw(const Instruction& i);
  const Tensor& operand(const Patch& p, const Instruction& i, OpCall& c) const;  // a tensor
  Place place_of(const Instruction& i) const;
  void patch(const Patch& p, Arg& a, const Instruction& i, OpCall& c);
  void protect(const Instruction& i, Arg* args);

  Frame& f_;
  bool check_numbers_, located_ = false;
  std::forward_list<Tensors> copies_;  // overwritten in place of arguments
};

}  // namespace paddle::executor
