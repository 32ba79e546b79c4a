#define PD_ISA base
#include "phi/kernels/cpu/tile/isa_reduce.h"
