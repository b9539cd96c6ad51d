#pragma once

#include <algorithm>
#include <string>

#include "compute/snapshots/snapshot.h"

namespace orrery::test {

/// Whether a snapshot says something that has these words.
inline bool has_note(const Snapshot& snapshot, const std::string& words) {
  return std::ranges::any_of(snapshot.notes,
                             [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

}  // namespace orrery::test
