// The kinds of device this process knows, and access to their tables.
#pragma once
#include <string>
#include <vector>

#include "device/device_api.h"
#include "device/place.h"

namespace paddle::device {

// Adds a kind; returns its index (Place::kind). ValueError for a missing required function, a second kind of the same
// name, or an API version we don't speak.
uint8_t register_device(const PdDevice& table);
// Opens a plugin and registers what its paddle_device_init fills in. OSError if it can't be opened; ValueError for a
// library that is no plugin, another API version, a missing function; RuntimeError where the plugin itself gives up.
uint8_t load_plugin(const std::string& path);
// Opens the plugins in the folders that the environment variable CUSTOM_DEVICE_ROOT lists (once; kinds() and
// place_from_string do it). One that fails is reported where somebody asks for a kind that isn't there.
void load_environment_plugins();

// What the layers above give to devices. on_register is called for each kind that is or will be registered; the
// kernel registrar serves PdHost::register_kernel.
void on_register(void (*listener)(uint8_t kind));
using KernelRegistrar = void (*)(uint8_t kind, const char* op, PdKernelFn fn);
void set_kernel_registrar(KernelRegistrar registrar);
// CINN can write kernels for it.
bool has_compiler(const PdDevice& table);

const PdDevice& table(uint8_t kind);
inline const PdDevice& table(Place p) { return table(p.kind); }
std::vector<std::string> kinds();
int32_t count(uint8_t kind);
PdDeviceFacts facts(Place p);

// Turns a failed status into a typed error that names the device and the function.
void check_status(PdStatus status, Place place, const char* what);

// Copies bytes between any two places and waits for the result.
void copy(void* dst, Place dst_place, const void* src, Place src_place, size_t bytes);
void synchronize(Place p);

}  // namespace paddle::device
