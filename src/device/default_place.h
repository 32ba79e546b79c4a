// Where tensors go that are made from no tensor: what set_device chose.
#pragma once
#include "device/place.h"

namespace paddle::device {
Place default_place();
void set_default_place(Place p);

class PlaceScope {  // another default place for the life of the object
 public:
  explicit PlaceScope(Place p) : before_(default_place()), changed_(!(p == before_)) {
    if (changed_) set_default_place(p);
  }
  ~PlaceScope() {
    if (changed_) set_default_place(before_);
  }
  PlaceScope(const PlaceScope&) = delete;

 private:
  Place before_;
  bool changed_;
};
}  // namespace paddle::device
