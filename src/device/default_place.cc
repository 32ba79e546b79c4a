#include "device/default_place.h"

#include "base/context.h"

namespace paddle::device {
namespace {
struct DefaultPlace {
  Place place;
};
}  // namespace

Place default_place() { return Context::current().get<DefaultPlace>().place; }
void set_default_place(Place p) { Context::current().get<DefaultPlace>().place = p; }

}  // namespace paddle::device
