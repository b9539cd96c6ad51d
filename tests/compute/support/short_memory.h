#pragma once

#include <cstddef>

namespace orrery::test {

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
