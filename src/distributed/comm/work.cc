#include "distributed/comm/work.h"

namespace paddle::comm {

bool Work::wait(Milliseconds timeout) {
  std::unique_lock lock(mutex_);
  auto completed = [this] { return completed_; };
  if (timeout == Milliseconds::zero())
    done_.wait(lock, completed);
  else if (!done_.wait_for(lock, timeout, completed))
    return false;
  if (error_) std::rethrow_exception(error_);
  return true;
}

bool Work::is_completed() const {
  std::lock_guard lock(mutex_);
  return completed_;
}

bool Work::is_success() const {
  std::lock_guard lock(mutex_);
  return completed_ && !error_;
}

void Work::finish(std::exception_ptr error) {
  {
    std::lock_guard lock(mutex_);
    completed_ = true;
    error_ = std::move(error);
  }
  done_.notify_all();
}

}  // namespace paddle::comm
