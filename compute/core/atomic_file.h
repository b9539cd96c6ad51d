// Files that appear whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "compute/core/descriptor.h"

namespace orrery {

/// Treatment of an existing file that has the name of an output.
enum class Existing {
  keep,          ///< keeps it; the output gets the first free numbered_path()
  replace,       ///< replaces it unless it is read-only, and follows a symbolic link; used for names that users give
  replace_here,  ///< as replace, but replaces a symbolic link itself; used for names that this program chooses
};

/// Returns whether an existing file is replaced, by `replace` or `replace_here`.
constexpr bool replaces(Existing existing) {
  return existing != Existing::keep;
}

/// Returns `path` with "-NUMBER" before its extension: "runs/a.csv" and 2 give "runs/a-2.csv"; `path` itself for 0.
std::filesystem::path numbered_path(const std::filesystem::path& path, int number);

/// Returns the path to which the symbolic links at `path` lead. The file there may be missing. A link that another user
/// has put into a shared folder, such as /tmp, is not followed: its own path is returned. Linux protects open() by the
/// same rule (fs.protected_symlinks).
std::filesystem::path followed(std::filesystem::path path);

/// Writes a file that appears whole or not at all, even if the program is killed or the machine stops. A replaced file
/// keeps its mode and, if permitted, its owner. Other hard links keep the old content. With Existing::replace, a
/// symbolic link stays and its target is replaced. Devices, pipes and descriptors of this process (/dev/stdout) are
/// written directly.
///
/// All failures throw std::runtime_error: one line that names the file and the cause.
class AtomicFile {
 public:
  enum class Temporary {
    nameless,  ///< has no name if the file system permits that, so that a killed writer leaves no file
    named,     ///< has a name by which a library can open it, see present_path()
  };
  /// Opens a temporary file in the folder of `file`. Removes temporary files that killed writers left.
  AtomicFile(const std::filesystem::path& file, Existing existing, Temporary temporary = Temporary::nameless);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  /// Removes the temporary file if it was not committed.
  ~AtomicFile();

  void write(std::string_view bytes);
  /// Throws, as write() would, if the file cannot grow to this size in bytes. Call before the first write().
  void require_room(std::uint64_t bytes) const;
  /// Returns the path of a Temporary::named file before commit(); empty if the output is a stream.
  std::string present_path() const;
  /// Returns the descriptor of the open file, so that another program can write it. Call before commit().
  int descriptor() const { return file_.number(); }
  /// Flushes to disk, then gives the file its final name and returns that. Call once, after the last write().
  std::filesystem::path commit();
  /// Does what commit() does, but keeps the replaced file in the same folder under the name `previous`, replacing any
  /// file of that name. At every moment, each of the two names is one whole file.
  std::filesystem::path commit_keeping(const std::string& previous);
  /// Returns ownership of the open file. Call after commit().
  Descriptor release() { return std::move(file_); }

 private:
  [[noreturn]] void fail(int error) const;
  [[noreturn]] void fail(const std::string& cause) const;
  std::filesystem::path folder_path() const;
  void remove_stale() const;
  void open_temporary(bool replaces, Temporary temporary);
  bool locked_in_time() const;
  bool publish_as(const std::string& name);
  void give_second_name(const std::string& name) const;
  std::filesystem::path publish();
  std::filesystem::path publish_new();
  std::filesystem::path publish_over();
  void adopt_owner_and_mode() const;

  const std::filesystem::path asked_;
  const bool stream_;
  const Existing existing_;
  std::filesystem::path target_;  // asked_; for Existing::replace, the file to which its links lead
  Descriptor folder_, file_;
  std::string temporary_;  // name in the folder; empty: none
};

/// Writes a whole file as AtomicFile does. Returns the name of the file.
std::string write_file(const std::filesystem::path& file, std::string_view bytes, Existing existing);

/// Checks that AtomicFile could write `file` now. Changes nothing. Throws as AtomicFile does.
void check_output(const std::filesystem::path& file, Existing existing);

}  // namespace orrery
