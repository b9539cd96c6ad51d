#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/lab/tuning/tuning_run.h"
#include "app/text/csv.h"

namespace orrery {

/// The file of the cache: orrery/auto-kernels.json in $XDG_CACHE_HOME, or in ~/.cache. Empty if neither XDG_CACHE_HOME
/// nor HOME is a folder's full path.
std::filesystem::path usual_cache_file();

/// The results of tuning runs under their keys, in one file that all runs of the program share. It never fails: what
/// cannot be read is measured again. A result that cannot be written, or would replace the file of another version of
/// the program, holds for this run only.
class ChoiceCache {
 public:
  struct Entry {
    Json key;
    TuningResult result;
  };

  /// If `file` is empty, results hold for this run only. `kernels` must outlive this.
  ChoiceCache(const KernelCatalog& kernels, std::filesystem::path file) : kernels_{kernels}, file_{std::move(file)} {}

  /// The latest result with an equal key and the same candidates.
  std::optional<TuningResult> find(const Json& key, const std::vector<Variant>& candidates);
  /// Does nothing if a candidate's kernel was added to the catalog at run time.
  void store(const Json& key, const TuningResult& result);
  /// All results with kernels and settings that this build has, oldest first.
  const std::vector<Entry>& entries();

  const std::filesystem::path& file() const { return file_; }
  /// Returns the problem with the file since the last call, one line; empty if there was none.
  std::string take_problem() { return std::exchange(problem_, {}); }

 private:
  std::vector<Entry> read();
  void write();

  const KernelCatalog& kernels_;
  std::filesystem::path file_;
  bool read_once_ = false;
  bool another_versions_ = false;  // the file is left as it is
  std::vector<Entry> entries_;
  std::string problem_;
};

}  // namespace orrery
