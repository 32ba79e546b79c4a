// What the oneDNN kernels share: engine, stream, tensors as memory, and a cache of primitives. Making a primitive costs
// tens of microseconds, running it one: the cache is what makes small calls cheap.
#pragma once
#include <dnnl.hpp>

#include <cstring>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "phi/kernels/cpu/operand.h"
#include "phi/kernels/forget.h"
#include "tensor/tensor.h"

namespace paddle::kernels::onednn {

const dnnl::engine& engine();
dnnl::stream& stream();  // of this thread

// Undefined data type if oneDNN has none for it.
dnnl::memory::data_type data_type(DType t);
bool supported(DType t);
// Whether oneDNN multiplies this dtype on this processor: 16-bit floats need instructions that many lack.
bool native(DType t);

dnnl::memory::dims dims_of(const Tensor& t);
dnnl::memory::desc plain_desc(const Tensor& t);  // with the tensor's own strides
inline dnnl::memory memory_of(const dnnl::memory::desc& d, const void* data) {
  return dnnl::memory(d, engine(), const_cast<void*>(data));
}

// A key made of the bytes of what decides about a primitive.
class Key {
 public:
  explicit Key(char kind) { text_.push_back(kind); }
  Key& add(int64_t v) {
    text_.append(reinterpret_cast<const char*>(&v), sizeof v);
    return *this;
  }
  Key& add(std::span<const int64_t> v) {
    add(static_cast<int64_t>(v.size()));
    for (int64_t x : v) add(x);
    return *this;
  }
  Key& add(const Tensor& t) {
    add(static_cast<int64_t>(t.dtype()));
    for (Dim d : t.shape()) add(d.value());
    for (int64_t s : t.strides()) add(s);
    return add(-7);
  }
  const std::string& str() const { return text_; }

 private:
  std::string text_;
};

// What forget_primitives() lets go of: at once in the thread that calls it, at their next call in others.
class Forgetting {
 public:
  virtual void forget() = 0;

 protected:
  ~Forgetting() = default;
  void join();  // the list of this thread
  static uint32_t times();

 private:
  friend void kernels::forget_primitives();
  Forgetting* next_ = nullptr;
};

// Least recently used entries go first; per thread, so that no lock is taken on the way to a kernel.
template <class T>
class Cache final : private Forgetting {
 public:
  template <class Make>
  T& get(const Key& key, Make&& make) {
    if (state_ && state_->made_after != times()) state_.reset();
    if (!state_) {
      if (!std::exchange(joined_, true)) join();
      state_ = std::make_unique<State>();
      state_->made_after = times();
    }
    auto& items_ = state_->items;
    auto& index_ = state_->index;
    auto it = index_.find(key.str());
    if (it != index_.end()) {
      if (it->second != items_.begin()) items_.splice(items_.begin(), items_, it->second);
      return items_.front().second;
    }
    items_.emplace_front(key.str(), made(make));
    index_[key.str()] = items_.begin();
    if (items_.size() > kMax) {
      index_.erase(items_.back().first);
      items_.pop_back();
    }
    return items_.front().second;
  }

 private:
  // What oneDNN refuses is a fault of the call, not of ours.
  template <class Make>
  static T made(Make&& make) {
    try {
      return make();
    } catch (const dnnl::error& e) {
      fail(ErrorKind::kNotImplemented, "oneDNN can't compute this: {}", e.what());
    }
  }
  static constexpr size_t kMax = 512;
  struct State {
    std::list<std::pair<std::string, T>> items;
    std::unordered_map<std::string, typename std::list<std::pair<std::string, T>>::iterator> index;
    uint32_t made_after = 0;
  };
  void forget() override { state_.reset(); }

  std::unique_ptr<State> state_;  // little thread-local storage
  bool joined_ = false;
};

void reorder_into(const dnnl::memory& from, const dnnl::memory& to);
// `from` in the layout that the primitive wants; itself if it has it already. `scratch` keeps the copy alive.
dnnl::memory reordered(const dnnl::memory& from, const dnnl::memory::desc& wanted, Ref<Storage>& scratch);

// For a 16-bit type that isn't native: calls compute(a, b, out) on f32 copies, rounds once at the end, and says so.
template <class Compute>
bool widened(const Tensor& a, const Tensor& b, const Tensor& out, Compute&& compute) {
  auto needs = [](const Tensor& t) { return size_of(t.dtype()) == 2 && !native(t.dtype()); };
  if (!needs(a) && !needs(b) && !needs(out)) return false;
  auto wide = [](const Tensor& t) {
    Tensor w = Tensor::empty(t.shape(), DType::kFloat32, t.place());
    convert_elements(w, t);
    return w;
  };
  Tensor result = Tensor::empty(out.shape(), DType::kFloat32, out.place());
  compute(wide(a), wide(b), result);
  convert_elements(out, result);
  return true;
}

}  // namespace paddle::kernels::onednn
