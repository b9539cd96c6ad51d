#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/options.h"
#include "app/lab/force_promise.h"
#include "app/lab/variants.h"
#include "app/recording/result_files.h"
#include "app/text/text_style.h"
#include "compute/diagnostics/reference.h"
#include "compute/diagnostics/ulp_histogram.h"
#include "compute/diagnostics/wrong_digits.h"

namespace orrery {

/// The check of one kernel with its settings, for one system of bodies under one law.
struct Check {
  const Variant& variant;
  int count = 0;  ///< bodies
  Law law{};
  float time_step = 0;
  int sample = 0;                       ///< bodies whose forces were compared
  std::optional<ForceError> error{};    ///< none if there are no forces
  AllowedError allowed{};               ///< the limits of `error`; they mean nothing without it
  UlpHistogram ulps{};                  ///< of the same forces
  std::optional<WrongDigits> digits{};  ///< of the coordinates after the second step; none if not requested
  std::string result{};                 ///< "PASS", "FAIL", "FAIL: why" or "skipped: why"

  bool failed() const { return result.starts_with("FAIL"); }
};

/// Writes a verification's results: tables for stdout, and the requested files.
class VerifyReport {
 public:
  /// Creates the files. `first` is the status of the first simulation. Throws std::runtime_error.
  VerifyReport(const Backends& backends, const VerifyOptions& options, const Status& first);

  /// Writes the row of the CSV at once.
  void add(Check check);
  /// Writes the JSON. Returns the tables, what was skipped, the number of failed checks and the names of the files.
  std::string finish(const std::vector<Skipped>& skipped, const TextStyle& style);
  bool empty() const { return checks_.empty(); }
  int failed() const { return failed_; }
  /// The first file that could not be written and why, one line; empty if there is none.
  const std::string& error() const { return files_.error(); }

 private:
  Json metadata_;
  Json results_ = Json::array();
  ResultFiles files_;
  std::vector<Check> checks_;
  bool with_ulps_, with_digits_;
  int failed_ = 0;
};

}  // namespace orrery
