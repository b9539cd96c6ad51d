#pragma once

#include <cstddef>

namespace orrery::test {

// ThreadSanitizer has an operator new of its own: there, tests of short memory are skipped.
#ifdef __clang__
#if __has_feature(thread_sanitizer)
#define ORRERY_NEW_IS_TAKEN
#endif
#endif
#ifdef ORRERY_NEW_IS_TAKEN
inline constexpr bool memory_can_be_short = false;
#else
inline constexpr bool memory_can_be_short = true;
#endif

/// While it lives, one allocation by `new` on any thread throws std::bad_alloc: of those of `bytes` or more, the one
/// that comes after `before` others. Needs short_memory.cpp in the test program. One at a time.
class ShortMemory {
 public:
  ShortMemory(std::size_t bytes, int before);
  ShortMemory(const ShortMemory&) = delete;
  ShortMemory& operator=(const ShortMemory&) = delete;
  ~ShortMemory();
};

}  // namespace orrery::test
