#include "base/generator.h"

#include "base/context.h"

namespace paddle {
Generator& generator() { return Context::current().get<Generator>(); }
}  // namespace paddle
