#define PD_ISA base
#include "phi/kernels/cpu/rows/isa_rows.h"
