#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/recording/run_checkpoint.h"
#include "compute/snapshots/snapshot_format.h"

namespace orrery {

/// The snapshots of a run in their folder: snapshot_00000.tipsy, snapshot_00001.tipsy and so on.
class SnapshotSeries {
 public:
  /// `format`: an id. Throws UsageError for one that is unknown. The folder may be missing.
  SnapshotSeries(std::filesystem::path folder, const std::string& format);

  const std::filesystem::path& folder() const { return folder_; }
  const SnapshotFormat& format() const { return *format_; }
  std::filesystem::path file(std::int64_t number) const;
  /// Whether the file has the name of a snapshot, and not of a file that belongs to one.
  bool is_snapshot(const std::filesystem::path& file) const;
  /// Whether a snapshot of this series, or a file that belongs to it, can have this name in the folder.
  bool takes(const std::string& name) const;
  /// The existing files of this series from snapshot `number` on, without links. Throws std::runtime_error, one line.
  std::vector<std::filesystem::path> files_from(std::int64_t number) const;
  /// Removes them. Throws std::runtime_error, one line.
  void remove_from(std::int64_t number) const;

  /// Throws std::runtime_error, one line, if the snapshot cannot be read.
  SnapshotMark mark_of(std::int64_t number) const;
  /// Whether the folder has the snapshot that was marked.
  bool has(const SnapshotMark& mark) const;
  /// Whether `file` is a snapshot of as many bodies, with the same shares of the mass in any order. Tells runs of
  /// different systems apart where nothing is marked.
  static bool is_of_bodies(const std::filesystem::path& file, const Bodies& bodies);

 private:
  std::filesystem::path folder_;
  const SnapshotFormat* format_;
};

}  // namespace orrery
