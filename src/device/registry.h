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
// Opens a plugin and registers what its paddle_device_init fills in.
uint8_t load_plugin(const std::string& path);

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
