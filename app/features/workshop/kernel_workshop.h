#pragma once

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

#include "app/features/workshop/file_watch.h"
#include "app/features/workshop/workshop_status.h"
#include "app/process/check_kernel.h"
#include "compute/kernels/catalog.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// A version of the kernel file that was found correct.
struct AcceptedKernel {
  int version = 0;
  std::shared_ptr<const KernelFile> file;
};

/// Compiles and checks one kernel file whenever it is saved, on a thread of its own, and keeps its versions. One thread
/// calls it.
class KernelWorkshop {
 public:
  struct Tools {
    /// Throws KernelFileError; anything else once `cancelled`, which any thread may call. `values` are those that the
    /// running version has.
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

  /// Watches the file from now on and compiles its text; forgets the versions of another. Throws std::runtime_error if
  /// there is no such file.
  void open(const std::string& file);
  void close();
  /// The versions of the open file; none if no file is open.
  std::optional<KernelHistory> history() const;
  /// Opens the file of `history` with its versions. Its text is not compiled before it is changed. Throws as open().
  void restore(const KernelHistory& history);
  // These throw UsageError if no file is open, or there is no such version; std::runtime_error if it cannot be written.
  void compile_again();
  void save(const std::string& text);
  void bring_back(int version);

  /// Values that the next texts are compiled for as well, so that replacing the running version takes no compiling.
  void set_values(const Settings::Values& values);
  /// The latest version, once it is known to be correct; each is returned once, and again if its file could not be read
  /// meanwhile.
  std::optional<AcceptedKernel> take_accepted();
  /// A version that take_accepted() returned could not be used after all.
  void reject(int version, const std::string& why);
  /// Whether a text is being compiled or checked, or is about to be.
  bool busy() const;
  /// Brings `status` up to date, except for the running version and what does not change.
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
  mutable std::mutex mutex_;  // of all below
  WorkshopStatus status_;
  std::vector<std::string> texts_;  // of the versions
  Settings::Values values_;
  std::optional<AcceptedKernel> accepted_;
  bool asked_ = false;               // to compile the text even if it is the last one
  bool judged_ = false;              // the status says what became of the last text
  int requests_ = 0, answered_ = 0;  // by the user, and those that the thread has looked at
  std::jthread thread_;              // last, so that it ends first
};

/// The version of the kernel file that is a kernel of the catalog.
class PlacedKernel {
 public:
  /// Makes the version a kernel of the catalog, in place of an earlier one with its id.
  using Put = std::function<KernelPtr(KernelCatalog& kernels, const AcceptedKernel& version)>;

  /// The catalog must outlive this.
  PlacedKernel(KernelCatalog& kernels, Put put) : kernels_{kernels}, put_{std::move(put)} {}

  /// Does nothing if it is there already. If this throws, nothing has changed.
  void put(const AcceptedKernel& version);
  /// The version could not be used: the one before takes its place again, or nothing does.
  void take_back();
  /// The versions are counted from 1 again.
  void forget_numbers();

  /// Whether the kernel with this id is the version.
  bool is(std::string_view id) const { return present_.file && present_.file->id == id; }
  /// 0: none, or not one of the open file.
  int version() const { return present_.version; }
  /// KernelInfo::revision of the version; 0: none, or not one of the open file.
  int revision() const { return of_file_.empty() ? 0 : of_file_.back()->revision; }
  /// The version of the kernel with this id and revision, which may have been replaced; 0: none, or not one of the open
  /// file.
  int version_of(std::string_view id, int revision) const;
  /// The kernel that the version of the open file became; null: none.
  KernelPtr kernel_of(int version) const;

 private:
  void place(const AcceptedKernel& version);

  KernelCatalog& kernels_;
  Put put_;
  AcceptedKernel present_, last_;   // without a file: none
  std::vector<KernelPtr> of_file_;  // the kernels that versions of the open file became
};

}  // namespace orrery
