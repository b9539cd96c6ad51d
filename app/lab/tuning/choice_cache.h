#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/lab/tuning/contest.h"
#include "app/text/csv.h"

namespace orrery {

/// Where choices of kernels are kept: orrery/auto-kernels.json in $XDG_CACHE_HOME, or in ~/.cache. Empty where neither
/// XDG_CACHE_HOME nor HOME is a folder's full path.
std::filesystem::path usual_cache_file();

/// Contests that were held, by what they hold for, in one file that all runs of the program share. Nothing about it is
/// ever a failure: what cannot be read is measured anew, and what cannot be written, or would replace the file of
/// another version of the program, is kept for this run alone.
class ChoiceCache {
 public:
  struct Entry {
    Json key;
    Contest contest;
  };

  /// An empty `file`: for this run alone. `kernels` must outlive this.
  ChoiceCache(const KernelCatalog& kernels, std::filesystem::path file) : kernels_{kernels}, file_{std::move(file)} {}

  /// The contest of these very contenders that was stored last under an equal key.
  std::optional<Contest> find(const Json& key, const std::vector<Variant>& contenders);
  void store(const Json& key, const Contest& contest);
  /// All that is known, oldest first, of kernels and settings that this build has.
  const std::vector<Entry>& entries();

  const std::filesystem::path& file() const { return file_; }
  /// What was wrong with the file since the last call, one line; empty when all is well.
  std::string take_problem() { return std::exchange(problem_, {}); }

 private:
  std::vector<Entry> read();
  void write();

  const KernelCatalog& kernels_;
  std::filesystem::path file_;
  bool read_once_ = false;
  bool another_versions_ = false;  // the file, which is left as it is
  std::vector<Entry> entries_;
  std::string problem_;
};

}  // namespace orrery
