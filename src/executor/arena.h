// Arenas: blocks of host memory for what lives within one run of a program. Runs take turns with the same few blocks,
// so a forward and a backward program need the larger of their two arenas, not the sum, and their pages stay warm.
#pragma once
#include <cstddef>

namespace paddle::executor {

class Arena {
 public:
  Arena() = default;
  // At least `bytes`, aligned to a page; 0: nothing. MemoryError where the system has no more.
  explicit Arena(size_t bytes);
  ~Arena();
  Arena(Arena&& o) noexcept : data_(o.data_), bytes_(o.bytes_) { o.data_ = nullptr, o.bytes_ = 0; }
  Arena& operator=(Arena&& o) noexcept;
  Arena(const Arena&) = delete;

  char* data() const { return data_; }

 private:
  char* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace paddle::executor
