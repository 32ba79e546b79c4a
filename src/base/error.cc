#include "base/error.h"

namespace paddle {

void throw_error(ErrorKind kind, std::string message) { throw Error(kind, std::move(message)); }

void throw_internal(const char* file, int line, std::string message) {
  throw InternalError(fmt::format("{} ({}:{}); this is a bug in paddle, please report it", message, file, line));
}

}  // namespace paddle
