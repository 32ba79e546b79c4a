#define PD_ISA avx2
#include "phi/kernels/cpu/tile/isa_reduce.h"
