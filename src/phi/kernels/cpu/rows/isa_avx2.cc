#define PD_ISA avx2
#include "phi/kernels/cpu/rows/isa_rows.h"
