#include "tile_testing.h"
