#pragma once

#include <cstdint>

namespace orrery {

/// How many bodies fit into the memory that this machine has free now: 256 bytes each, which covers a generator's draft
/// (56), the scene kept for Reset, the engine's state and its copies (32 each), and leaves room for everything else.
std::int64_t bodies_that_fit();

}  // namespace orrery
