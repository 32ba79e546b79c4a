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
    Shape shape;                         // of every value that it holds in turn
    const Instruction* group = nullptr;  // else: the workspace of a compiled group
  };
  std::vector<Buffer> buffers;
  struct Value {
    uint32_t slot, buffer;
  };
  std::vector<Value> values;
  std::vector<uint32_t> buffer_of;  // per tensor slot; kNone: not in the arena
};

// Also numbers the instructions, and takes what lives in the arena out of their lists of values to free.
MemoryModel plan_memory(Code& code, std::span<const SlotType> slots, size_t num_lists,
                        std::span<const uint32_t> results);

}  // namespace paddle::executor
