#pragma once

#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "compute/core/descriptor.h"

namespace orrery {

/// Waits for a file to be saved, also by programs that write another file and rename it, and through symbolic links.
/// One thread waits; any thread may wake it.
class FileWatch {
 public:
  /// Throws std::runtime_error if the system has no more of these.
  FileWatch();

  /// Watches this file from now on, instead of the one before; its folder must exist. A link that is replaced leads the
  /// watch to its new target. Throws std::runtime_error.
  void watch(const std::string& file);
  /// Until the file was saved, or wake() was called.
  void wait() const;
  /// Whether the file was saved, or wake() was called, since the last call.
  bool take();
  void wake();

 private:
  /// A name in a folder that is watched.
  struct Place {
    int folder;
    std::string name;
  };
  void follow_links(const std::filesystem::path& file);
  bool read_events();
  bool read_wakes() const;

  Descriptor notify_, wakes_;
  std::mutex mutex_;  // of the two below
  std::filesystem::path file_;
  std::vector<Place> places_;  // of the file, if it is a link also of what it leads to
};

}  // namespace orrery
