// What fuse_groups says of its decisions, for people.
#pragma once
#include <string>

#include "cinn/group/fuse.h"

namespace paddle::cinn {

// What keeps an operation out of every group; empty where nothing does.
std::string why_outside(const pir::Operation& op, const FuseOptions& options);
// Why what `producer` makes is computed where `consumer` reads it.
std::string why_joined(const pir::Operation& producer, const pir::Operation& consumer);
std::string shape_text(pir::Value v);  // "[6, 40]"

}  // namespace paddle::cinn
