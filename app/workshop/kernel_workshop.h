#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/ui_state/workshop_status.h"
#include "app/workshop/check_kernel.h"
#include "app/workshop/file_watch.h"
#include "app/workshop/kernel_history.h"
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

  /// What the next texts are compiled for as well, so that replacing the running version takes no compiling.
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

}  // namespace orrery
