#include "base/profile.h"

#include <pthread.h>

#include <chrono>
#include <mutex>

namespace paddle::profile {
namespace {

std::mutex mutex;
std::vector<Event>& events() {
  static auto* all = new std::vector<Event>();  // spans may end while the process does
  return *all;
}

}  // namespace

std::string_view name_of(Kind kind) {
  constexpr std::string_view names[] = {"Operator", "Backward", "Program", "Instruction", "Group", "Compile"};
  return names[static_cast<size_t>(kind)];
}

void start() {
  std::lock_guard lock(mutex);
  events().clear();
  on.store(true, std::memory_order_relaxed);
}

std::vector<Event> stop() {
  on.store(false, std::memory_order_relaxed);
  std::lock_guard lock(mutex);
  return std::move(events());
}

int64_t now() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

void add(Kind kind, std::string_view name, int64_t begin, std::string detail) {
  const int64_t end = now();
  Event e{std::string(name), std::move(detail), kind, begin, end, static_cast<uint64_t>(pthread_self())};
  std::lock_guard lock(mutex);
  if (recording()) events().push_back(std::move(e));
}

}  // namespace paddle::profile
