#include "distributed/comm/store.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <thread>

#include "base/error.h"

namespace paddle::comm {

void HashStore::set(const std::string& key, const std::string& value) {
  {
    std::lock_guard lock(mutex_);
    values_[key] = value;
  }
  changed_.notify_all();
}

std::optional<std::string> HashStore::get(const std::string& key, Milliseconds timeout) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, timeout, [&] { return values_.contains(key); })) return std::nullopt;
  return values_[key];
}

int64_t HashStore::add(const std::string& key, int64_t amount) {
  int64_t sum;
  {
    std::lock_guard lock(mutex_);
    std::string& value = values_[key];
    sum = (value.empty() ? 0 : std::stoll(value)) + amount;
    value = std::to_string(sum);
  }
  changed_.notify_all();
  return sum;
}

bool HashStore::erase(const std::string& key) {
  std::lock_guard lock(mutex_);
  return values_.erase(key) > 0;
}

namespace {

using Clock = std::chrono::steady_clock;

Milliseconds until(Clock::time_point deadline) {
  return std::max(std::chrono::duration_cast<Milliseconds>(deadline - Clock::now()), Milliseconds::zero());
}

// The value of a key, unless nobody sets it by the deadline or another rank says before that it has given up.
std::optional<std::string> awaited(Store& store, const std::string& key, const std::string& given_up,
                                   Clock::time_point deadline) {
  while (true) {
    auto found = store.get(key, std::min(until(deadline), Milliseconds(200)));
    if (found || until(deadline) == Milliseconds::zero() || store.contains(given_up)) return found;
  }
}

// Tells those who wait still, and gives them time to hear it: with the first to give up the store may end, and a lost
// connection says less than who is missing.
void give_up(Store& store, const std::string& given_up, int64_t present) {
  store.set(given_up, "");
  const std::string told = given_up + "/told";
  const auto deadline = Clock::now() + Milliseconds(1000);
  for (int64_t n = store.add(told, 1); n < present && until(deadline) > Milliseconds::zero(); n = store.add(told, 0))
    std::this_thread::sleep_for(Milliseconds(20));
}

}  // namespace

std::vector<std::string> exchange(Store& store, const std::string& topic, int rank, const std::vector<int>& ranks,
                                  const std::string& value, Milliseconds timeout) {
  auto key = [&](size_t r) { return topic + "/" + std::to_string(r); };
  const std::string given_up = topic + "/given up";
  const auto deadline = Clock::now() + timeout;
  store.erase(given_up);  // by an earlier try
  store.erase(given_up + "/told");
  store.set(key(rank), value);
  std::vector<std::string> values(ranks.size());
  std::vector<int> missing;
  for (size_t r = 0; r < ranks.size(); ++r) {
    // After the first that is missing the rest are only looked at, so that the message names all.
    auto found = missing.empty() ? awaited(store, key(r), given_up, deadline) : store.get(key(r), Milliseconds::zero());
    if (found)
      values[r] = *found;
    else
      missing.push_back(ranks[r]);
  }
  if (!missing.empty()) give_up(store, given_up, static_cast<int64_t>(ranks.size() - missing.size()));
  if (!missing.empty())
    fail(ErrorKind::kTimeout, "[rendezvous] rank{} {} of {} did not join '{}' within {} s; rank {} waited",
         missing.size() == 1 ? "" : "s", fmt::join(missing, ", "), ranks.size(), topic,
         static_cast<double>(timeout.count()) / 1000.0, ranks[rank]);
  return values;
}

}  // namespace paddle::comm
