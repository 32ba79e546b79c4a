#include "base/parallel_for.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>

#include "base/error.h"

namespace paddle {
namespace {

// The processors that a cgroup's CPU quota pays for, rounded up; a large number without a quota.
int quota_threads() {
  constexpr int kNoQuota = 1 << 16;
  double quota = -1, period = 0;
  if (std::ifstream v2("/sys/fs/cgroup/cpu.max"); v2) {
    std::string text;
    if (v2 >> text >> period && text != "max") quota = std::strtod(text.c_str(), nullptr);
  } else {
    std::ifstream quota_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"),
        period_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
    if (!(quota_file >> quota && period_file >> period)) return kNoQuota;
  }
  if (quota <= 0 || period <= 0) return kNoQuota;
  return std::max(1, static_cast<int>(quota / period + 0.999));
}

int default_threads() {
  if (const char* wish = std::getenv("OMP_NUM_THREADS"); wish && std::atoi(wish) > 0) return std::atoi(wish);
  cpu_set_t set;
  CPU_ZERO(&set);
  const int affine = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : omp_get_num_procs();
  return std::max(1, std::min(affine, quota_threads()));
}

std::atomic<bool> forked{false};

std::atomic<int>& thread_count() {
  static std::atomic<int> count = [] {
    pthread_atfork(nullptr, nullptr, [] {
      forked.store(true, std::memory_order_relaxed);
      omp_set_num_threads(1);  // for libraries that ask OpenMP themselves
    });
    return default_threads();
  }();
  return count;
}

// At load: a product may use OpenMP's threads before anything asks for their number, and a child must still be told.
[[maybe_unused]] const int at_load = thread_count().load(std::memory_order_relaxed);

}  // namespace

int num_threads() {
  const int count = thread_count().load(std::memory_order_relaxed);
  return forked.load(std::memory_order_relaxed) ? 1 : count;
}

void set_num_threads(int n) {
  check(n >= 1, ErrorKind::kValue, "[set_num_threads] expected at least 1 thread, got {}", n);
  thread_count().store(n, std::memory_order_relaxed);
  if (!forked.load(std::memory_order_relaxed)) omp_set_num_threads(n);
}

namespace detail {

void parallel_ranges(int64_t begin, int64_t end, int64_t grain, RangeFn fn, void* context) {
  const int64_t n = end - begin;
  const int64_t wanted = std::min<int64_t>(num_threads(), n / std::max<int64_t>(grain, 1));
  if (wanted <= 1 || omp_in_parallel()) {
    fn(context, begin, end);
    return;
  }
  std::exception_ptr fault;
  std::atomic_flag failed = ATOMIC_FLAG_INIT;
#pragma omp parallel num_threads(static_cast <int>(wanted))
  {
    const int64_t part = omp_get_thread_num(), parts = omp_get_num_threads();
    const int64_t first = begin + n * part / parts, last = begin + n * (part + 1) / parts;
    try {
      if (first < last) fn(context, first, last);
    } catch (...) {
      if (!failed.test_and_set()) fault = std::current_exception();
    }
  }
  if (fault) std::rethrow_exception(fault);
}

}  // namespace detail
}  // namespace paddle
