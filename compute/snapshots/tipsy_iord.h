#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "compute/core/atomic_file.h"

namespace orrery {

struct Snapshot;

/// A TIPSY file holds no ids: the text FILE.iord beside it does, as other programs for TIPSY know it. Its first line is
/// the number of bodies, and each further line the id of one, in the order of the file.

/// Takes over the ids in the file beside a snapshot, if there is one; notes why they cannot be used.
void take_iord(const std::filesystem::path& file, Snapshot& snapshot);

std::filesystem::path iord_of(const std::filesystem::path& file);

/// Writes such a file.
class IordFile {
 public:
  /// Throws std::runtime_error if it exists and is not to be replaced.
  IordFile(const std::filesystem::path& snapshot, std::size_t bodies, Existing existing);

  void add(std::uint64_t id);
  std::filesystem::path commit();

 private:
  AtomicFile out_;
  std::string text_;
};

/// Throws std::runtime_error if a new snapshot of this name would get the ids of an older one.
void check_iord(const std::filesystem::path& snapshot, Existing existing);

}  // namespace orrery
