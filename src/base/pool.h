// Per-thread free lists for small objects that are made and dropped millions of times a second: tensors, storages,
// nodes. A block freed on another thread joins that thread's list; lists are bounded, the rest goes to malloc.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <new>

namespace paddle {

// Under the address sanitizer (or, with PADDLE_EXACT_BLOCKS, valgrind) every block comes from malloc, so that a use
// after free or past the end is seen.
#if defined(__SANITIZE_ADDRESS__) || defined(PADDLE_EXACT_BLOCKS)
inline constexpr bool kReuseBlocks = false;
#else
inline constexpr bool kReuseBlocks = true;
#endif

template <class Tag, size_t kBytes, size_t kMax = 1024>
class Pool {
 public:
  static void* get() {
    List& l = list();
    if (l.head) [[likely]] {
      Block* b = l.head;
      l.head = b->next;
      --l.size;
      return b;
    }
    if (void* p = std::aligned_alloc(64, (kBytes + 63) / 64 * 64)) return p;
    throw std::bad_alloc();
  }
  static void put(void* p) noexcept {
    List& l = list();
    if (!kReuseBlocks || l.closed || l.size >= kMax) {
      std::free(p);
      return;
    }
    auto* b = static_cast<Block*>(p);
    b->next = l.head;
    l.head = b;
    ++l.size;
  }

 private:
  struct Block {
    Block* next;
  };
  struct List {
    Block* head = nullptr;
    size_t size = 0;
    bool closed = false;  // the thread is ending: nothing may join any more
    ~List() {
      closed = true;
      while (head) {
        Block* next = head->next;
        std::free(head);
        head = next;
      }
    }
  };
  static List& list() {
    static thread_local List l;
    return l;
  }
};

}  // namespace paddle
