#define PD_ISA avx512
#include "phi/kernels/cpu/rows/isa_rows.h"
