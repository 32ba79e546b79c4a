// Work: the handle of a collective that may still be running.
#pragma once
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>

namespace paddle::comm {

using Milliseconds = std::chrono::milliseconds;

class Work {
 public:
  // Blocks until done and rethrows what went wrong. False if it is still running after `timeout` (zero: no limit).
  bool wait(Milliseconds timeout = Milliseconds::zero());
  bool is_completed() const;  // also when it failed
  bool is_success() const;

  void finish(std::exception_ptr error = nullptr);

 private:
  mutable std::mutex mutex_;
  std::condition_variable done_;
  bool completed_ = false;
  std::exception_ptr error_;
};

using WorkPtr = std::shared_ptr<Work>;

}  // namespace paddle::comm
