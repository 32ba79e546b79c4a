#include <math.h>

#include "table.h"

static PdStatus absolute(int32_t, PdStream, const PdTensor* const* in, int32_t, PdTensor* const* out, int32_t,
                         const PdAttrs*) {
  int64_t n = 1;
  for (int32_t i = 0; i < in[0]->rank; ++i) n *= in[0]->shape[i];
  for (int64_t i = 0; i < n; ++i)
    static_cast<float*>(out[0]->data)[i] = fabsf(static_cast<const float*>(in[0]->data)[i]);
  return plugin::ok();
}

extern "C" PdStatus paddle_device_init(const PdHost* host, PdDevice* device) {
  *device = plugin::table("good");
  return host->register_kernel("good", "abs", absolute);
}
