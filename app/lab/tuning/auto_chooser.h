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

/// Returns the path of the cache: orrery/auto-kernels.json in $XDG_CACHE_HOME, or in ~/.cache. Empty if neither
/// XDG_CACHE_HOME nor HOME is an absolute path.
std::filesystem::path usual_cache_file();

/// Results of tuning runs by key, in one file that all runs of the program share. Never fails: results that cannot be
/// read are measured again. Results that cannot be written, or would overwrite the file of another version of the
/// program, are kept in memory for this run.
class ChoiceCache {
 public:
  struct Entry {
    Json key;
    TuningResult result;
  };

  /// If `file` is empty, results are only kept in memory. `kernels` must outlive this object.
  ChoiceCache(const KernelCatalog& kernels, std::filesystem::path file) : kernels_{kernels}, file_{std::move(file)} {}

  /// Returns the latest result with an equal key and the same candidates.
  std::optional<TuningResult> find(const Json& key, const std::vector<Variant>& candidates);
  /// Stores a result, unless a candidate's kernel was added to the catalog at run time.
  void store(const Json& key, const TuningResult& result);
  /// Returns all results whose kernels and settings this build has, oldest first.
  const std::vector<Entry>& entries();

  const std::filesystem::path& file() const { return file_; }
  /// Returns one line about a problem with the file since the last call; empty if there was none.
  std::string take_problem() { return std::exchange(problem_, {}); }

 private:
  std::vector<Entry> read();
  void write();

  const KernelCatalog& kernels_;
  std::filesystem::path file_;
  bool read_once_ = false;
  bool another_versions_ = false;  // another version wrote the file; it is not overwritten
  std::vector<Entry> entries_;
  std::string problem_;
};

/// Returns the key of a cached tuning run: machine, driver, build, law, whether masses are equal, range of the count,
/// accuracy (0 if only full_fp32 kernels are candidates), and whether a window draws at the same time. The ranges are
/// powers of sqrt 2. Within a range the same kernel wins, except near its ends. So a slider that passes many counts
/// does not start a run for each. If only full_fp32 kernels are candidates, all counts above the largest measured one
/// are one range.
Json tuning_key(const Backends& backends, const KernelDemand& demand, Backend backend);

/// Additional entry of the key: the variants that met the accuracy in a trial.
inline constexpr const char* accurate_variants = "accurate_variants";

/// Chooses by measurement and caches the results. Accuracy trials always use the current bodies. A cached result is
/// valid if the same variants meet the accuracy.
class AutoChooser final : public KernelChooser {
 public:
  /// Collaborators, which tests replace.
  struct Environment {
    const Backends& backends;
    /// See candidates_here(). Called for each choice, as kernels are added and replaced at run time.
    std::function<std::vector<Variant>()> candidates;
    /// See measure_accuracy().
    std::function<AccuracyTrials(const std::vector<Variant>& candidates, const KernelDemand&, const ForceSystem&,
                                 const std::stop_token&)>
        try_accuracy;
    /// See measure_candidates().
    std::function<TuningResult(const AccuracyTrials&, const KernelDemand&, const ForceSystem&, const std::stop_token&)>
        measure;
    std::filesystem::path cache_file;                ///< empty: no cache file
    std::function<void(const std::string&)> report;  ///< receives one line for the user
  };
  static Environment this_machine(const Backends& backends);

  explicit AutoChooser(Environment environment);

  KernelChoice choose(const KernelDemand& demand, const ForceSystem& system, const std::stop_token& stop) override;
  /// Returns the candidate chosen last, with its time and errors; none if choose() returned the default.
  const std::optional<Candidate>& chosen() const { return chosen_; }

 private:
  struct Found {
    TuningResult result;
    std::string source;  ///< origin of the result: "One step with 4,096 bodies, measured ...:"
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

/// Returns a candidate's median_error, p99_error and max_error. Null: no trial was needed, or the error is not a
/// number.
Json error_json(const std::optional<ForceError>& error);

/// Returns the path of the cache file, and the choices of this machine and build. `cache` is null if there is no file.
Json choices_json(const Backends& backends);

/// Returns the choices as lines of text.
std::vector<std::string> choices_lines(const Json& choices);

}  // namespace orrery
