#pragma once

#include <span>

#include "compute/core/embedded.h"

namespace orrery {

/// What headers with device code include for their host code, as far as NVRTC needs it to read them: the names of
/// types, mostly, under the names of the headers. Only device_headers() include these.
std::span<const SourceFile> host_stand_ins();

}  // namespace orrery
