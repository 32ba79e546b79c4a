// Region: the blocks that an operation owns. Our structured control flow has one block a region; more are allowed.
#pragma once
#include <memory>
#include <vector>

#include "pir/block.h"

namespace paddle::pir {

class Region {
 public:
  Region() = default;
  Region(const Region&) = delete;
  ~Region();

  Operation* parent_op() const { return parent_; }
  bool empty() const { return blocks_.empty(); }
  size_t size() const { return blocks_.size(); }
  Block& block(size_t i = 0) const { return *blocks_[i]; }
  Block& front() const { return *blocks_.front(); }
  Block& add_block();
  Block& ensure_block() { return blocks_.empty() ? add_block() : front(); }
  void take_blocks(Region& from);  // moves all blocks of `from` to the end of this
  void drop_references();          // operands of everything inside let go of their values
  void clear();

 private:
  friend class Operation;
  Operation* parent_ = nullptr;
  std::vector<std::unique_ptr<Block>> blocks_;
};

}  // namespace paddle::pir
