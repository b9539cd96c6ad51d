#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/lab/tuning/candidates.h"
#include "app/text/csv.h"
#include "compute/sim/backends.h"
#include "compute/sim/kernel_chooser.h"

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

/// The key of a cached tuning run: machine, driver, build, law, whether masses are equal, the range of the count, the
/// accuracy (0 if only full_fp32 kernels are candidates), and whether a window draws meanwhile. The ranges are powers
/// of sqrt 2: within one the same kernel wins except near its ends, and a slider that passes many counts does not start
/// a run for each. If only full_fp32 kernels are candidates, all counts above the most that are measured are one range.
Json tuning_key(const Backends& backends, const KernelDemand& demand, Backend backend);

/// An entry of the key beside those of tuning_key(): the variants that met the accuracy in a trial.
inline constexpr const char* accurate_variants = "accurate_variants";

/// Chooses by measurement and caches the results. Accuracy trials are made with the current bodies each time; a cached
/// result counts if the same variants meet the accuracy.
class AutoChooser final : public KernelChooser {
 public:
  /// The collaborators; tests have their own.
  struct Environment {
    const Backends& backends;
    /// See candidates_here(). Called for each choice: kernels are added and replaced at run time.
    std::function<std::vector<Variant>()> candidates;
    /// See measure_accuracy().
    std::function<AccuracyTrials(const std::vector<Variant>& candidates, const KernelDemand&, const ForceSystem&,
                                 const std::stop_token&)>
        try_accuracy;
    /// See measure_candidates().
    std::function<TuningResult(const AccuracyTrials&, const KernelDemand&, const ForceSystem&, const std::stop_token&)>
        measure;
    std::filesystem::path cache_file;                ///< empty: none
    std::function<void(const std::string&)> report;  ///< takes one line for the user
  };
  static Environment this_machine(const Backends& backends);

  explicit AutoChooser(Environment environment);

  KernelChoice choose(const KernelDemand& demand, const ForceSystem& system, const std::stop_token& stop) override;
  /// The candidate that choose() returned last, with its time and its errors; none if that was the default.
  const std::optional<Candidate>& chosen() const { return chosen_; }

 private:
  struct Found {
    TuningResult result;
    std::string source;  ///< "One step with 4,096 bodies, measured ...:"
  };
  std::vector<Variant> candidates_for(const KernelDemand& demand) const;
  std::optional<Found> cached_result(const Json& key, const AccuracyTrials& trials);
  Found new_result(const Json& key, const AccuracyTrials& trials, const KernelDemand& demand, const ForceSystem& system,
                   const std::stop_token& stop);
  void report_problem();

  Environment environment_;
  ChoiceCache cache_;
  std::optional<Candidate> chosen_;
};

/// The errors of a candidate as median_error, p99_error and max_error; null: it needed no trial, or no number.
Json error_json(const std::optional<ForceError>& error);

/// The cache's file, and the choices of this machine and build. `cache` is null if there is no file.
Json choices_json(const Backends& backends);

/// The choices for people, in lines.
std::vector<std::string> choices_lines(const Json& choices);

}  // namespace orrery
