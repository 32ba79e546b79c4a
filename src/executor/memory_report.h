// What lies in the memory of a run, and when: for people.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace paddle::executor {

struct MemoryRow {
  std::string what;   // operator and source line of the first value that lies there; an input's name
  std::string where;  // "arena", or the input that has given its memory up
  size_t bytes = 0, offset = 0;
  uint32_t first = 0, last = 0;  // instructions; 0: from the start
};

struct MemoryReport {
  std::string name;
  size_t arena = 0, least = 0;  // bytes of the arena; no layout could do with less
  uint32_t instructions = 0;
  uint32_t peak = 0;                    // the instruction at which most is alive
  std::vector<std::string> operations;  // by instruction
  std::vector<MemoryRow> rows;
};

}  // namespace paddle::executor
