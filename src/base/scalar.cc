#include "base/scalar.h"

#include <cstddef>
#include <iterator>

namespace paddle::scalar {
namespace {

constexpr FnInfo kInfo[] = {
#include "base/scalar_info.inc"
};
static_assert(std::size(kInfo) == static_cast<size_t>(Fn::kCount));

}  // namespace

const FnInfo& info(Fn fn) { return kInfo[static_cast<size_t>(fn)]; }

}  // namespace paddle::scalar
