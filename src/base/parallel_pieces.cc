#include "base/parallel_pieces.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <vector>

namespace paddle::detail {
namespace {

constexpr int64_t kPieces = 16;  // of a thread's part at most: what the last to end is waited for is a sixteenth of it

// A thread's part, from which any thread takes the next piece.
struct alignas(64) Part {
  std::atomic<int64_t> taken{0};  // pieces
  int64_t begin = 0, end = 0, pieces = 1;

  bool take(int64_t& first, int64_t& last) {
    if (taken.load(std::memory_order_relaxed) >= pieces) return false;
    const int64_t k = taken.fetch_add(1, std::memory_order_relaxed);
    if (k >= pieces) return false;
    first = begin + (end - begin) * k / pieces;
    last = begin + (end - begin) * (k + 1) / pieces;
    return true;
  }
};

}  // namespace

void parallel_pieces(int64_t begin, int64_t end, int64_t grain, RangeFn fn, void* context) {
  const int64_t n = end - begin, least = std::max<int64_t>(grain, 1);
  const int64_t wanted = std::min<int64_t>(num_threads(), n / least);
  if (wanted <= 1 || omp_in_parallel()) {
    fn(context, begin, end);
    return;
  }
  std::vector<Part> parts(static_cast<size_t>(wanted));
  for (int64_t p = 0; p < wanted; ++p) {
    Part& part = parts[static_cast<size_t>(p)];
    part.begin = begin + n * p / wanted;
    part.end = begin + n * (p + 1) / wanted;
    part.pieces = std::clamp<int64_t>((part.end - part.begin) / least, 1, kPieces);
  }
  std::exception_ptr fault;
  std::atomic_flag failed = ATOMIC_FLAG_INIT;
#pragma omp parallel num_threads(static_cast <int>(wanted))
  {
    // Fewer threads may have come than were asked for: the parts of those that are missing are taken too.
    const int64_t own = omp_get_thread_num();
    try {
      for (int64_t k = 0; k < wanted; ++k) {
        int64_t first, last;
        while (parts[static_cast<size_t>((own + k) % wanted)].take(first, last)) fn(context, first, last);
      }
    } catch (...) {
      if (!failed.test_and_set()) fault = std::current_exception();
    }
  }
  if (fault) std::rethrow_exception(fault);
}

}  // namespace paddle::detail
