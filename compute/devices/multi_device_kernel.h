#pragma once

#include <memory>

#include "compute/devices/device_team.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Returns a kernel whose evaluations the devices of a team share. The first device owns the bodies and the others get
/// copies for each evaluation, or the bodies are resident: each device holds those of its part from step to step. The
/// kernel implements OwnersFacet and ResidentFacet. `team` must outlive it. Throws as KernelInfo::make(); errors of
/// devices other than the first name the device.
std::unique_ptr<ForceKernel> multi_device_kernel(const DeviceTeam& team, const KernelInfo& kernel,
                                                 const Settings& settings);

}  // namespace orrery
