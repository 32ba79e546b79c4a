// What kernels keep beside the tensors' memory.
#pragma once

namespace paddle::kernels {

// Lets go of the code that was made for the shapes seen so far; it is made again where it is needed. Not to be called
// from within a kernel.
void forget_primitives();

}  // namespace paddle::kernels
