#pragma once

// Settings of the files that Highway compiles once for each instruction set. Include this before Highway's headers.
// Disabled are sets that would repeat the code of SSE4 or AVX-512, and sets whose vectors cannot be members of a
// struct.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
