// Pages of host memory: what the system gives at the first touch, page by page.
#pragma once
#include <cstddef>

namespace paddle::device {

// Has the system back a large block by memory now, by all threads, where it isn't yet; its contents stay. For blocks
// that are about to be written around the cache: such stores to a page that was cleared a moment ago wait until it has
// left the cache. Nothing happens to small blocks, or where the system can't.
void back_pages(void* block, size_t bytes);

}  // namespace paddle::device
