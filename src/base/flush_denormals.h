// In this scope and thread, floats too small for a normal number are zero: what is read and what is computed. On x86 a
// denormal takes an instruction some 150 cycles, whichever lane has it.
#pragma once
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace paddle {

class FlushDenormals {
#if defined(__SSE2__)
 public:
  FlushDenormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | kFlushResults | kReadAsZero); }
  ~FlushDenormals() { _mm_setcsr(before_); }

 private:
  static constexpr unsigned kFlushResults = 1 << 15, kReadAsZero = 1 << 6;
  unsigned before_;
#else
 public:
  FlushDenormals() {}   // NOLINT: a scope, though it does nothing
  ~FlushDenormals() {}  // NOLINT
#endif
  FlushDenormals(const FlushDenormals&) = delete;
};

}  // namespace paddle
