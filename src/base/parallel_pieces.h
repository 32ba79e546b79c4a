// Loops over several threads whose work may be divided anyhow.
#pragma once
#include <cstdint>
#include <type_traits>

#include "base/parallel_for.h"

namespace paddle {

namespace detail {
void parallel_pieces(int64_t begin, int64_t end, int64_t grain, RangeFn fn, void* context);
}  // namespace detail

// Calls fn(first, last) on contiguous pieces of [begin, end), each of at least `grain` elements (but for the rest).
// Every thread has the part that parallel_for would give it, so that what one loop leaves in a core's cache the next
// finds there, but goes through it piece by piece; one that is done takes pieces of those that aren't, since processors
// that share their core, or a slower clock, with others' work would be waited for. Which thread computes what is left
// to chance: results must not depend on it, nor on how the range is cut. Nested calls run serially. The first exception
// is rethrown to the caller after all threads ended.
template <class Fn>
void parallel_pieces(int64_t begin, int64_t end, int64_t grain, Fn&& fn) {
  if (end <= begin) return;
  if (end - begin <= grain) {
    fn(begin, end);
    return;
  }
  detail::parallel_pieces(
      begin, end, grain, [](void* f, int64_t b, int64_t e) { (*static_cast<std::remove_reference_t<Fn>*>(f))(b, e); },
      const_cast<void*>(static_cast<const void*>(&fn)));
}

}  // namespace paddle
