// Copies of operations, blocks and regions. A value of the original maps to one of the copy; values from outside of
// what is copied that aren't in the map stay what they are.
#pragma once
#include <unordered_map>

#include "pir/operation.h"

namespace paddle::pir {

using ValueMap = std::unordered_map<Value, Value>;

inline Value mapped(const ValueMap& map, Value v) {
  auto it = v ? map.find(v) : map.end();
  return it == map.end() ? v : it->second;
}

// Detached. Its results, and all inside its regions, are added to the map.
Operation* clone_op(const Operation& op, ValueMap& map);
// Operations of `from` go to the end of `to`. Arguments that the map doesn't know yet are added to `to`.
void clone_block(const Block& from, Block& to, ValueMap& map);
void clone_region(const Region& from, Region& to, ValueMap& map);

}  // namespace paddle::pir
