#pragma once

#include <mutex>
#include <string>

#include "compute/core/descriptor.h"

namespace orrery {

/// Waits for a file to be saved, also by programs that write another file and rename it. One thread waits; any thread
/// may wake it.
class FileWatch {
 public:
  /// Throws std::runtime_error if the system has no more of these.
  FileWatch();

  /// Watches this file from now on, instead of the one before; its folder must exist. Throws std::runtime_error.
  void watch(const std::string& file);
  /// Until the file was saved, or wake() was called.
  void wait() const;
  /// Whether the file was saved, or wake() was called, since the last call.
  bool take();
  void wake();

 private:
  bool read_events();
  bool read_wakes() const;

  Descriptor notify_, wakes_;
  std::mutex mutex_;  // of the two below
  int folder_ = -1;   // watched
  std::string name_;
};

}  // namespace orrery
