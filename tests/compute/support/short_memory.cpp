#include "tests/compute/support/short_memory.h"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

namespace orrery::test {
namespace {

constexpr std::size_t nothing_fails = std::numeric_limits<std::size_t>::max();
std::atomic<std::size_t> least_bytes = nothing_fails;
std::atomic<int> others_before = 0;

/// Null if memory is short.
void* allocate(std::size_t bytes) {
  if (bytes >= least_bytes && others_before-- == 0) return nullptr;
  return std::malloc(bytes > 0 ? bytes : 1);
}

}  // namespace

ShortMemory::ShortMemory(std::size_t bytes, int before) {
  others_before = before;
  least_bytes = bytes;
}
ShortMemory::~ShortMemory() {
  least_bytes = nothing_fails;
}

}  // namespace orrery::test

#ifndef ORRERY_NEW_IS_TAKEN
// These take the place of those of the standard library in the whole program.
void* operator new(std::size_t bytes) {
  if (void* const memory = orrery::test::allocate(bytes)) return memory;
  throw std::bad_alloc{};
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return orrery::test::allocate(bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
#endif
