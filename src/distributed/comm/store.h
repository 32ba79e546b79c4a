// Store: the small key-value table through which ranks find each other.
#pragma once
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "distributed/comm/work.h"

namespace paddle::comm {

class Store {
 public:
  virtual ~Store() = default;
  virtual void set(const std::string& key, const std::string& value) = 0;
  // The value, once there is one; empty if there is none within `timeout`.
  virtual std::optional<std::string> get(const std::string& key, Milliseconds timeout) = 0;
  virtual int64_t add(const std::string& key, int64_t amount) = 0;  // the new sum; the value is its decimal text
  virtual bool erase(const std::string& key) = 0;                   // false if there was none

  bool contains(const std::string& key) { return get(key, Milliseconds::zero()).has_value(); }
};
using StorePtr = std::shared_ptr<Store>;

// Within one process: for ranks that are threads, and inside the server of a TcpStore.
class HashStore final : public Store {
 public:
  void set(const std::string& key, const std::string& value) override;
  std::optional<std::string> get(const std::string& key, Milliseconds timeout) override;
  int64_t add(const std::string& key, int64_t amount) override;
  bool erase(const std::string& key) override;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> values_;
};

// Keys of one group, apart from those of others in the same store.
class PrefixStore final : public Store {
 public:
  PrefixStore(StorePtr store, std::string prefix) : store_(std::move(store)), prefix_(std::move(prefix) + "/") {}
  void set(const std::string& key, const std::string& value) override { store_->set(prefix_ + key, value); }
  std::optional<std::string> get(const std::string& key, Milliseconds timeout) override {
    return store_->get(prefix_ + key, timeout);
  }
  int64_t add(const std::string& key, int64_t amount) override { return store_->add(prefix_ + key, amount); }
  bool erase(const std::string& key) override { return store_->erase(prefix_ + key); }

 private:
  StorePtr store_;
  std::string prefix_;
};

// Every member leaves `value` under `topic` and gets all members' values by rank. Raises a TimeoutError that names the
// ranks (`ranks`: global ones, for the message) that left nothing within `timeout`.
std::vector<std::string> exchange(Store& store, const std::string& topic, int rank, const std::vector<int>& ranks,
                                  const std::string& value, Milliseconds timeout);

}  // namespace paddle::comm
