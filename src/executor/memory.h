// Which values of a program live in the arena, and when: lifetimes over the instruction list, memory that several
// values look into, results that take over the memory of an operand that dies.
#pragma once
#include <functional>

#include "executor/instruction.h"

namespace paddle::executor {

// What a slot holds, from the program's types.
struct SlotType {
  DType dtype = DType::kUndefined;
  Shape shape;
  bool sized = false;  // the sizes follow from those of the inputs
};

struct MemoryModel {
  struct Buffer {
    uint32_t first = 0, last = 0;  // instructions
    DType dtype = DType::kUndefined;
    Shape shape;                         // of the first value that it holds; the others have as many bytes
    const Instruction* group = nullptr;  // else: the workspace of a compiled group
    uint32_t input = kNone;              // it begins as this input's own memory, where a run may have that
  };
  std::vector<Buffer> buffers;
  struct Value {
    uint32_t slot, buffer;
    Shape shape;
  };
  std::vector<Value> values;
  std::vector<uint32_t> buffer_of;  // per tensor slot; kNone: not in the arena
  // Inputs of which nothing is left when the run is over: what is given up may be written over.
  struct Input {
    uint32_t input, slot;
    uint32_t last;    // instruction that reads it
    uint32_t buffer;  // of `buffers`
  };
  std::vector<Input> inputs;
};

// Instructions are numbered from 1 on: 0 stands for what is there before the first.
// Also numbers the instructions, and takes what lives in the arena out of their lists of values to free.
// inputs: the slots of the program's inputs; kNone where one is no tensor.
MemoryModel plan_memory(Code& code, std::span<const SlotType> slots, size_t num_lists,
                        std::span<const uint32_t> results, std::span<const uint32_t> inputs);

}  // namespace paddle::executor
