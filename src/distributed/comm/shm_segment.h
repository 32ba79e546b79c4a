// A piece of POSIX shared memory, mapped.
#pragma once
#include <cstddef>
#include <string>

namespace paddle::comm {

class ShmSegment {
 public:
  ShmSegment() = default;
  // Makes and zeroes a segment, with all its pages reserved. Raises an OSError that says how much /dev/shm has, how
  // much is needed and how to enlarge it when it is too small.
  static ShmSegment create(const std::string& name, size_t bytes);
  static ShmSegment open(const std::string& name, size_t bytes);
  static std::string unique_name();             // "/paddle_<pid>_<random>"
  static void unlink(const std::string& name);  // mappings stay; nothing is left behind when the ranks die

  ShmSegment(ShmSegment&& o) noexcept;
  ShmSegment& operator=(ShmSegment&& o) noexcept;
  ~ShmSegment();

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  ShmSegment(std::byte* data, size_t size) : data_(data), size_(size) {}
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace paddle::comm
