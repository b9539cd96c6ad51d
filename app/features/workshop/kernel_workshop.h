#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "app/features/workshop/workshop.h"
#include "app/process/kernel_processes.h"
#include "compute/core/atomic_file.h"
#include "compute/kernels/catalog.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Waits until a file is saved, also by programs that rename another file to its name, and through symbolic links. If
/// the file or its folder is deleted, moved or made again and no save follows within 200 ms, that counts as a save. One
/// thread waits; any thread may call wake().
class FileWatch {
 public:
  /// Throws std::runtime_error if the system's limit of watches is reached.
  FileWatch();

  /// Watches this file instead of the previous one. Its folder must exist. If a link on the way is replaced, follows
  /// the new link. Throws std::runtime_error.
  void watch(const std::string& file);
  /// Blocks until the file is saved or wake() is called.
  void wait();
  /// Returns whether the file was saved, or wake() was called, since the last call.
  bool take();
  void wake();

 private:
  using Clock = std::chrono::steady_clock;
  /// A name to watch in a folder.
  struct Place {
    int folder;
    std::string name;
    bool is_folder = false;  // a missing folder on the path to the file
  };
  /// Watches the file and the targets of its links. If a folder is missing, watches the folder above for its name.
  void follow_links(const std::filesystem::path& file);
  bool read_events();
  bool read_wakes() const;

  Descriptor notify_, wakes_;
  std::mutex mutex_;  // guards all members below
  std::filesystem::path file_;
  std::vector<Place> places_;              // the file and the targets of its links
  std::optional<Clock::time_point> gone_;  // when a place was deleted or moved; none after a save
};

/// A version of the kernel file that was compiled and checked without errors.
struct AcceptedKernel {
  int version = 0;
  std::shared_ptr<const KernelFile> file;
};

/// Compiles and checks one kernel file whenever it is saved, on its own thread, and keeps its versions. All functions
/// are called from one other thread.
class KernelWorkshop {
 public:
  struct Tools {
    /// Compiles a file for `values`, the settings of the running version. Throws KernelFileError, or any other
    /// exception once `cancelled` returns true. Any thread may call `cancelled`.
    std::function<std::vector<FileMessage>(const KernelFile& file, const Settings::Values& values,
                                           const std::function<bool()>& cancelled)>
        compile;
    std::function<KernelCheck(const KernelFile& file, const Settings::Values& values,
                              const std::function<bool()>& cancelled)>
        check;
  };
  explicit KernelWorkshop(Tools tools);
  ~KernelWorkshop();
  KernelWorkshop(const KernelWorkshop&) = delete;
  KernelWorkshop& operator=(const KernelWorkshop&) = delete;

  /// Watches and compiles this file. If another file was open, forgets its versions. Throws std::runtime_error if the
  /// file does not exist.
  void open(const std::string& file);
  void close();
  /// Returns the versions of the open file; none if no file is open.
  std::optional<KernelHistory> history() const;
  /// Opens the file of `history` with its versions. Compiles it only when it changes. Throws what open() throws.
  void restore(const KernelHistory& history);
  // These functions throw UsageError without an open file or such a version, and std::runtime_error if writing fails.
  void compile_again();
  void save(const std::string& text);
  void bring_back(int version);

  /// Sets values for which later texts are also compiled, so that a new version can run without compiling again.
  void set_values(const Settings::Values& values);
  /// Returns the latest version once, when it is known to be correct. Returns it again if its file could not be read
  /// for a time, because it is then checked again.
  std::optional<AcceptedKernel> take_accepted();
  /// Marks a version of take_accepted() as rejected, because it could not be used.
  void reject(int version, const std::string& why);
  /// Returns whether a text is being compiled or checked, or will be.
  bool busy() const;
  /// Updates `status`, except the running version and the members that never change.
  void describe(WorkshopStatus& status) const;

 private:
  void run(const std::stop_token& stop);
  void take_in_text();
  int version_to_judge(const std::string& text);
  void show_rejection(const std::string& why, std::vector<WorkshopMessage> messages);
  void judge(int version, const std::string& name, const std::string& text);
  bool replaced();
  void require_file() const;
  template <class Change>
  void change(Change change);
  WorkshopVersion& version_of(int number);

  Tools tools_;
  FileWatch watch_;
  mutable std::mutex mutex_;  // guards all members below
  WorkshopStatus status_;
  std::vector<std::string> texts_;  // texts of the versions
  Settings::Values values_;
  std::optional<AcceptedKernel> accepted_;
  bool asked_ = false;               // compile the text even if it has not changed
  bool judged_ = false;              // the latest text has been judged; the status has the result
  int requests_ = 0, answered_ = 0;  // numbers of requests by the user, and of those that the thread has seen
  std::jthread thread_;              // last member: destroyed first
};

/// Keeps one version of the kernel file, the placed version, in the catalog as a kernel.
class PlacedKernel {
 public:
  /// Puts a version into the catalog, in place of an earlier one with its id.
  using Put = std::function<KernelPtr(KernelCatalog& kernels, const AcceptedKernel& version)>;

  /// `kernels` must outlive this object.
  PlacedKernel(KernelCatalog& kernels, Put put) : kernels_{kernels}, put_{std::move(put)} {}

  /// Places `version`, unless it is placed already. If this throws, nothing has changed.
  void put(const AcceptedKernel& version);
  /// Removes the placed version, which could not be used. Places the previous one again, if there is one.
  void take_back();
  /// Forgets the numbers of the open file's versions, because another file is opened.
  void forget_numbers();

  /// Returns whether the kernel with this id is the placed version.
  bool is(std::string_view id) const { return present_.file && present_.file->id == id; }
  /// Returns the number of the placed version; 0: none, or not of the open file.
  int version() const { return present_.version; }
  /// Returns KernelInfo::revision of the placed version; 0: none, or not of the open file.
  int revision() const { return of_file_.empty() ? 0 : of_file_.back()->revision; }
  /// Returns the version number of a kernel by id and revision, even if it was replaced; 0: not of the open file.
  int version_of(std::string_view id, int revision) const;
  /// Returns the kernel that a version of the open file became; null: none.
  KernelPtr kernel_of(int version) const;

 private:
  void place(const AcceptedKernel& version);

  KernelCatalog& kernels_;
  Put put_;
  AcceptedKernel present_, last_;   // without a file: none
  std::vector<KernelPtr> of_file_;  // kernels that the versions of the open file became
};

}  // namespace orrery
