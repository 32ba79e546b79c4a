/* The device ABI: a device is a table of functions. Plain C; the CPU fills in the same table as any plugin.
 *
 * A plugin is a shared library that exports
 *     PdStatus paddle_device_init(const PdHost* host, PdDevice* device);
 * It fills in `device`; every pointer not marked (optional) must be set. `size` fields let tables grow: a caller reads
 * only what the other side's size covers. No exception may cross this boundary; every call returns a status, whose
 * message stays valid until the thread's next call into the same library.
 */
#ifndef PADDLE_DEVICE_API_H
#define PADDLE_DEVICE_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PD_DEVICE_API_VERSION 1

typedef struct PdStatus {
  int32_t code;        /* 0: success; else a PdErrorCode */
  const char* message; /* NULL on success */
} PdStatus;

typedef enum PdErrorCode {
  PD_OK = 0,
  PD_ERROR_OUT_OF_MEMORY = 1,
  PD_ERROR_INVALID_ARGUMENT = 2,
  PD_ERROR_UNSUPPORTED = 3,
  PD_ERROR_DEVICE = 4,
  PD_ERROR_COMPILE = 5
} PdErrorCode;

typedef struct PdStream_t* PdStream;
typedef struct PdEvent_t* PdEvent;
typedef struct PdModule_t* PdModule; /* compiled code */
typedef struct PdKernel_t* PdKernel; /* an entry point of a module */

/* dtype numbers are those of paddle::DType. */
typedef struct PdTensor {
  size_t size;
  void* data;
  int32_t dtype;
  int32_t rank;
  const int64_t* shape;
  const int64_t* strides; /* elements */
} PdTensor;

/* How a kernel reads its attributes: by position in the operator's record. */
typedef struct PdAttrs {
  size_t size;
  void* self;
  int64_t (*get_int)(void* self, int32_t arg);
  double (*get_float)(void* self, int32_t arg);
  const char* (*get_string)(void* self, int32_t arg);
  size_t (*get_ints)(void* self, int32_t arg, const int64_t** out); /* number of items */
} PdAttrs;

typedef PdStatus (*PdKernelFn)(int32_t device, PdStream stream, const PdTensor* const* inputs, int32_t num_inputs,
                               PdTensor* const* outputs, int32_t num_outputs, const PdAttrs* attrs);

/* What CINN needs to know to write kernels for the device, and the spelling of its C dialect. Sources are C with these
 * words put in; what a source expects of the prelude: the types pd_u8 pd_i8 pd_u16 pd_i16 pd_u32 pd_i32 pd_u64 pd_i64,
 * INFINITY, C's functions on single precision (expf; with `math_overloaded` they are called exp), and where has_f64 is
 * set those on double precision (exp). */
typedef struct PdDialect {
  size_t size;
  const char* prelude;          /* put before every source */
  const char* kernel_prefix;    /* "__kernel void", "extern \"C\" __global__ void" */
  const char* function_prefix;  /* of helper functions: "static", "__device__ static" */
  const char* global_pointer;   /* "__global" or "" */
  const char* restrict_pointer; /* "restrict", "__restrict__" or "" */
  const char* local_memory;     /* "__local", "__shared__" */
  const char* barrier;          /* statement, or NULL if the device has no work groups */
  const char* group_id[3];      /* expressions */
  const char* local_id[3];
  int32_t math_overloaded; /* one name for all precisions: exp, not expf */
  int32_t has_f64;
  int32_t group_size; /* preferred work items a group; a power of two */
  int64_t local_memory_bytes;
} PdDialect;

typedef struct PdDeviceFacts {
  size_t size;
  int64_t memory_bytes;
  int32_t compute_units;
  int32_t max_group_size;
  int64_t cache_bytes;
  const char* name; /* "Intel(R) Xeon(R) ..." */
} PdDeviceFacts;

/* What the framework offers to a plugin. */
typedef struct PdHost {
  size_t size;
  int32_t api_version;
  void (*log)(int32_t level, const char* message);
  /* (optional in plugins' use) registers a kernel for an operator, by its record's name */
  PdStatus (*register_kernel)(const char* device_kind, const char* op, PdKernelFn fn);
} PdHost;

typedef struct PdDevice {
  size_t size;
  int32_t api_version;
  const char* kind; /* "cpu", "gpu", "opencl": what users write in set_device */

  /* life and enumeration */
  PdStatus (*initialize)(void);
  PdStatus (*finalize)(void);
  PdStatus (*count)(int32_t* out);
  PdStatus (*facts)(int32_t device, PdDeviceFacts* out);
  PdStatus (*synchronize)(int32_t device);

  /* Memory: 64-byte aligned or better; pointers into a block, offset in bytes, are valid wherever its start is. Copies
   * and launches on one stream happen in order and may return before they are done; host memory that a copy reads or
   * writes stays until then. */
  PdStatus (*allocate)(int32_t device, size_t bytes, void** out);
  PdStatus (*deallocate)(int32_t device, void* ptr, size_t bytes);
  PdStatus (*memory_stats)(int32_t device, size_t* total, size_t* free);
  PdStatus (*copy_to_device)(int32_t device, PdStream stream, void* dst, const void* src, size_t bytes);
  PdStatus (*copy_to_host)(int32_t device, PdStream stream, void* dst, const void* src, size_t bytes);
  PdStatus (*copy_on_device)(int32_t device, PdStream stream, void* dst, const void* src, size_t bytes);
  PdStatus (*fill)(int32_t device, PdStream stream, void* dst, int32_t byte, size_t bytes);

  /* streams and events; a NULL stream is the default one */
  PdStatus (*stream_create)(int32_t device, PdStream* out);
  PdStatus (*stream_destroy)(int32_t device, PdStream stream);
  PdStatus (*stream_synchronize)(int32_t device, PdStream stream);
  PdStatus (*stream_wait_event)(int32_t device, PdStream stream, PdEvent event);
  PdStatus (*event_create)(int32_t device, PdEvent* out);
  PdStatus (*event_destroy)(int32_t device, PdEvent event);
  PdStatus (*event_record)(int32_t device, PdStream stream, PdEvent event);
  PdStatus (*event_synchronize)(int32_t device, PdEvent event);
  PdStatus (*event_query)(int32_t device, PdEvent event, int32_t* done);

  /* (optional) host memory that the device reaches directly */
  PdStatus (*allocate_pinned)(int32_t device, size_t bytes, void** out);
  PdStatus (*deallocate_pinned)(int32_t device, void* ptr, size_t bytes);
  PdStatus (*copy_peer)(int32_t dst_device, int32_t src_device, PdStream stream, void* dst, const void* src,
                        size_t bytes);

  /* (optional) compiler access: with all of these, CINN writes the kernels. A kernel's parameters are num_buffers
   * pointers, then num_sizes 64-bit integers. grid counts groups, group the work items of one. */
  const PdDialect* dialect;
  PdStatus (*compile)(int32_t device, const char* source, const char* options, PdModule* out);
  PdStatus (*module_destroy)(int32_t device, PdModule module);
  PdStatus (*module_kernel)(int32_t device, PdModule module, const char* name, PdKernel* out);
  PdStatus (*kernel_destroy)(int32_t device, PdKernel kernel);
  PdStatus (*launch)(int32_t device, PdStream stream, PdKernel kernel, const int64_t grid[3], const int64_t group[3],
                     void* const* buffers, int32_t num_buffers, const int64_t* sizes, int32_t num_sizes);

  /* (optional) one operator stands for another: "matmul" -> "my_gemm" */
  const char* (*map_operator)(const char* op);
  /* (optional) whole-graph access: PIR JSON in, handle out */
  PdStatus (*compile_graph)(int32_t device, const char* pir_json, PdModule* out);

  void* reserved[16];
} PdDevice;

typedef PdStatus (*PdDeviceInit)(const PdHost* host, PdDevice* device);

#ifdef __cplusplus
}
#endif
#endif
