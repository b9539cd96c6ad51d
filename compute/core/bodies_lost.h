#pragma once

#include "compute/core/device_lost.h"

namespace orrery {

/// Also a base of those exceptions after which a device still works, but the bodies that it held are gone.
class BodiesLost : public DeviceLost {};

}  // namespace orrery
