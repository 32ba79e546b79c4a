#define PD_ISA avx512
#include "phi/kernels/cpu/tile/isa_reduce.h"
