// A mesh and placements as one line, the form in which operators carry them as an attribute:
//   "2,2|0,1,2,3|x,y|S0,Psum"    shape | process ids | names | placements (R, S<dim>, P<kind>)
// The empty text means: not distributed.
#pragma once
#include <string>
#include <string_view>

#include "spmd/placement.h"

namespace paddle::spmd {

std::string encode(const DistAttr& attr);
DistAttr decode(std::string_view text);  // ValueError if it is no such text

}  // namespace paddle::spmd
