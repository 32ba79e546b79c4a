// Errors for people. What the user did wrong derives from UserError and becomes the Python class that Paddle's callers
// expect; what we did wrong is an InternalError.
#pragma once
#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace paddle {

enum class ErrorKind {
  kValue,           // ValueError
  kType,            // TypeError
  kIndex,           // IndexError
  kKey,             // KeyError
  kRuntime,         // RuntimeError
  kNotImplemented,  // NotImplementedError
  kMemory,          // MemoryError
  kOS,              // OSError
  kTimeout,         // TimeoutError
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string message) : std::runtime_error(std::move(message)), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

// A bug of ours: an invariant that no input may break.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void throw_error(ErrorKind kind, std::string message);
[[noreturn]] void throw_internal(const char* file, int line, std::string message);

// fail(ErrorKind::kValue, "[softmax] expected axis in [{}, {}), got {}", -r, r, axis)
template <class... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw_error(kind, fmt::format(format, std::forward<Args>(args)...));
}

// check(ok, kind, format, ...): the message is formatted only when the check fails.
template <class... Args>
inline void check(bool ok, ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  if (!ok) [[unlikely]]
    throw_error(kind, fmt::format(format, std::forward<Args>(args)...));
}

// invariant(x): for what can't be false unless we have a bug.
#define PD_INVARIANT(condition)                                            \
  do {                                                                     \
    if (!(condition)) [[unlikely]]                                         \
      ::paddle::throw_internal(__FILE__, __LINE__, "broken: " #condition); \
  } while (0)

}  // namespace paddle
