// A vector of trivially copyable items whose first N live inside the object: shapes and strides need no allocation.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <type_traits>

namespace paddle {

template <class T, uint32_t N>
class InlineVec {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  InlineVec() = default;
  explicit InlineVec(size_t n, T fill = T{}) { resize(n, fill); }
  InlineVec(std::initializer_list<T> items) { assign(items.begin(), items.size()); }
  explicit InlineVec(std::span<const T> items) { assign(items.data(), items.size()); }
  template <class It>
  requires(!std::is_integral_v<It>) InlineVec(It first, It last) {
    for (; first != last; ++first) push_back(*first);
  }
  InlineVec(const InlineVec& o) { assign(o.data(), o.size_); }
  InlineVec(InlineVec&& o) noexcept { steal(o); }
  InlineVec& operator=(const InlineVec& o) {
    if (this != &o) assign(o.data(), o.size_);
    return *this;
  }
  InlineVec& operator=(InlineVec&& o) noexcept {
    if (this != &o) {
      drop();
      steal(o);
    }
    return *this;
  }
  ~InlineVec() { drop(); }

  T* data() { return heap_ ? heap_ : inline_; }
  const T* data() const { return heap_ ? heap_ : inline_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }
  const T& front() const { return data()[0]; }

  void clear() { size_ = 0; }
  void reserve(size_t n) {
    if (n <= capacity_) return;
    n = std::max<size_t>(n, 2 * capacity_);
    T* fresh = new T[n];
    std::copy(begin(), end(), fresh);
    drop();
    heap_ = fresh;
    capacity_ = static_cast<uint32_t>(n);
  }
  void push_back(T v) {
    if (size_ == capacity_) reserve(size_ + 1);
    data()[size_++] = v;
  }
  void pop_back() { --size_; }
  void resize(size_t n, T fill = T{}) {
    reserve(n);
    for (size_t i = size_; i < n; ++i) data()[i] = fill;
    size_ = static_cast<uint32_t>(n);
  }
  void insert(size_t at, T v) {
    push_back(v);
    std::rotate(begin() + at, end() - 1, end());
  }
  void erase(size_t at) {
    std::copy(begin() + at + 1, end(), begin() + at);
    --size_;
  }
  operator std::span<const T>() const { return {data(), size_}; }
  bool operator==(const InlineVec& o) const { return size_ == o.size_ && std::equal(begin(), end(), o.begin()); }

 private:
  void assign(const T* p, size_t n) {
    size_ = 0;
    reserve(n);
    std::copy(p, p + n, data());
    size_ = static_cast<uint32_t>(n);
  }
  void drop() {
    delete[] heap_;
    heap_ = nullptr;
    capacity_ = N;
  }
  void steal(InlineVec& o) {
    heap_ = o.heap_;
    size_ = o.size_;
    capacity_ = o.capacity_;
    if (!heap_) std::copy(o.inline_, o.inline_ + size_, inline_);
    o.heap_ = nullptr;
    o.size_ = 0;
    o.capacity_ = N;
  }

  uint32_t size_ = 0;
  uint32_t capacity_ = N;
  T* heap_ = nullptr;
  T inline_[N];
};

}  // namespace paddle
