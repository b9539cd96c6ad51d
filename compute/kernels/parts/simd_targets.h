#pragma once

// What the files that Highway compiles once for each instruction set have in common: it comes before Highway's headers.
// Left out: sets that would only repeat SSE4's or AVX-512's code, and those whose vectors no struct can hold.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
