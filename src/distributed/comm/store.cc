#include "distributed/comm/store.h"

#include <fmt/ranges.h>

#include <algorithm>

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

std::vector<std::string> exchange(Store& store, const std::string& topic, int rank, const std::vector<int>& ranks,
                                  const std::string& value, Milliseconds timeout) {
  auto key = [&](size_t r) { return topic + "/" + std::to_string(r); };
  auto deadline = std::chrono::steady_clock::now() + timeout;
  store.set(key(rank), value);
  std::vector<std::string> values(ranks.size());
  std::vector<int> missing;
  for (size_t r = 0; r < ranks.size(); ++r) {
    auto left = std::chrono::duration_cast<Milliseconds>(deadline - std::chrono::steady_clock::now());
    // Past the deadline the rest are only looked at, so that the message names all who are missing.
    auto found = store.get(key(r), std::max(left, Milliseconds::zero()));
    if (found)
      values[r] = *found;
    else
      missing.push_back(ranks[r]);
  }
  if (!missing.empty())
    fail(ErrorKind::kTimeout, "[rendezvous] rank{} {} of {} did not join '{}' within {} s; rank {} waited",
         missing.size() == 1 ? "" : "s", fmt::join(missing, ", "), ranks.size(), topic,
         static_cast<double>(timeout.count()) / 1000.0, ranks[rank]);
  return values;
}

}  // namespace paddle::comm
