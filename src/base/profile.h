// What ran when: spans of operators, instructions, gradients and compiler steps, recorded while a profiler asks for
// them. Off, a span costs one relaxed load.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paddle::profile {

enum class Kind : uint8_t { kOperator, kBackward, kProgram, kInstruction, kGroup, kCompile };
std::string_view name_of(Kind kind);

struct Event {
  std::string name;
  std::string detail;  // shapes of the inputs, of operators
  Kind kind;
  int64_t begin, end;  // nanoseconds of the monotonic clock, Python's time.perf_counter_ns
  uint64_t thread;
};

inline std::atomic<bool> on{false};
inline bool recording() { return on.load(std::memory_order_relaxed); }

void start();               // drops what was recorded before
std::vector<Event> stop();  // what was recorded since, in the order in which it ended

int64_t now();
void add(Kind kind, std::string_view name, int64_t begin, std::string detail = {});

class Span {
 public:
  Span(Kind kind, std::string_view name) : kind_(kind), begin_(recording() ? now() : 0) {
    if (begin_) name_ = name;
  }
  ~Span() {
    if (begin_) add(kind_, name_, begin_);
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  Kind kind_;
  std::string_view name_;  // outlives the span
  int64_t begin_;
};

}  // namespace paddle::profile
