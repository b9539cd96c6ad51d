#pragma once

#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "compute/core/atomic_file.h"

namespace orrery {

/// Waits for a file to be saved, also by programs that write another file and rename it, and through symbolic links. If
/// the file or its folder is deleted, moved or made again, and no save follows soon, that counts as one: reading the
/// file shows what became of it. One thread waits; any thread may wake it.
class FileWatch {
 public:
  /// Throws std::runtime_error if the system has no more of these.
  FileWatch();

  /// Watches this file from now on, instead of the one before; its folder must exist. A link that is replaced leads the
  /// watch to its new target. Throws std::runtime_error.
  void watch(const std::string& file);
  /// Blocks until the file was saved, or wake() was called.
  void wait();
  /// Whether the file was saved, or wake() was called, since the last call.
  bool take();
  void wake();

 private:
  using Clock = std::chrono::steady_clock;
  /// A name in a folder that is watched.
  struct Place {
    int folder;
    std::string name;
    bool is_folder = false;  // that is missing, on the way to the file
  };
  /// Watches the file and its links' targets. If a folder is missing, watches for its name in the folder above.
  void follow_links(const std::filesystem::path& file);
  bool read_events();
  bool read_wakes() const;

  Descriptor notify_, wakes_;
  std::mutex mutex_;  // of all below
  std::filesystem::path file_;
  std::vector<Place> places_;              // of the file, if it is a link also of what it leads to
  std::optional<Clock::time_point> gone_;  // when one of them was deleted or moved, if no save followed
};

}  // namespace orrery
