// Where tensors go that are made from no tensor: what set_device chose.
#pragma once
#include "device/place.h"

namespace paddle::device {
Place default_place();
void set_default_place(Place p);
}  // namespace paddle::device
