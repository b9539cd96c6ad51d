#pragma once

namespace orrery {

/// What computes: the processor, or a CUDA device.
enum class Backend { cpu, cuda };

}  // namespace orrery
