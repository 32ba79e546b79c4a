// Context: all state that belongs to one rank: default place, generators, flags, names, process groups. A process has
// one; in tests, ranks are threads, and each thread then installs its own.
//
// base knows no framework types, so a Context is a set of slots by type: ctx.get<T>() makes a T on first use.
#pragma once
#include <memory>
#include <mutex>
#include <typeindex>
#include <unordered_map>

namespace paddle {

class Context {
 public:
  static Context& process();  // the process's own
  static Context& current();  // the thread's, or else the process's

  template <class T>
  T& get() {
    std::lock_guard lock(mutex_);
    auto& slot = slots_[std::type_index(typeid(T))];
    if (!slot) slot = std::make_shared<T>();
    return *static_cast<T*>(slot.get());
  }

  class Use {  // makes a context the thread's current one for the life of the object
   public:
    explicit Use(Context& c);
    ~Use();
    Use(const Use&) = delete;

   private:
    Context* previous_;
  };

 private:
  std::mutex mutex_;
  std::unordered_map<std::type_index, std::shared_ptr<void>> slots_;
};

}  // namespace paddle
