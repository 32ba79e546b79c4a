// Told of every operation before it is freed, so that handles outside of the IR (a language binding's objects) can let
// go of it.
#pragma once
#include <atomic>

namespace paddle::pir {

class Operation;
extern std::atomic<void (*)(const Operation*)> destroy_hook;  // null: nobody asks

}  // namespace paddle::pir
