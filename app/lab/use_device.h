#pragma once

namespace orrery {

/// Makes CUDA device `index` the one that everything uses from here on. Call before anything asks for a CUDA backend.
/// Throws UsageError that lists the devices; std::runtime_error where CUDA cannot run, with the reason.
void use_device(int index);

}  // namespace orrery
