// Loops over several threads (OpenMP's, shared with oneDNN).
#pragma once
#include <cstdint>
#include <type_traits>

namespace paddle {

// How many threads a loop may use: set_num_threads, else OMP_NUM_THREADS, else what affinity and the cgroup quota
// allow. 1 in a child after fork, since OpenMP's pool does not survive it.
int num_threads();
void set_num_threads(int n);  // raises ValueError if n < 1

namespace detail {
using RangeFn = void (*)(void* context, int64_t begin, int64_t end);
void parallel_ranges(int64_t begin, int64_t end, int64_t grain, RangeFn fn, void* context);
}  // namespace detail

// Calls fn(first, last) on contiguous, equal parts of [begin, end), one per thread, each of at least `grain` elements
// (but for the rest). The division depends on nothing but the arguments and num_threads(). Nested calls run serially.
// The first exception is rethrown to the caller after all parts ended.
template <class Fn>
void parallel_for(int64_t begin, int64_t end, int64_t grain, Fn&& fn) {
  if (end <= begin) return;
  if (end - begin <= grain) {
    fn(begin, end);
    return;
  }
  detail::parallel_ranges(
      begin, end, grain, [](void* f, int64_t b, int64_t e) { (*static_cast<std::remove_reference_t<Fn>*>(f))(b, e); },
      const_cast<void*>(static_cast<const void*>(&fn)));
}

}  // namespace paddle
