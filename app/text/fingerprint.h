#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace orrery {

/// 16 hexadecimal digits that tell texts apart (FNV-1a, 64 bits; Fowler, Noll and Vo). Not safe against forgery.
inline std::string fingerprint(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return fmt::format("{:016x}", hash);
}

}  // namespace orrery
