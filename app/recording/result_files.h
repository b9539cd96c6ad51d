#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/recording/csv.h"
#include "app/recording/output_file.h"

namespace orrery {

/// The CSV and the JSON file that a measurement's results go to, where they were asked for.
class ResultFiles {
 public:
  /// Creates the files that have a name and writes the CSV's head. Throws std::runtime_error.
  ResultFiles(const std::string& csv_file, const std::string& json_file, const Json& metadata,
              std::span<const std::string_view> columns);

  /// Writes a row of the CSV at once.
  void add(std::span<const std::string> fields);
  /// Writes the JSON.
  void finish(const Json& whole);
  /// Leaves no file of ours behind: nothing was measured.
  void discard();
  /// "wrote a.csv", one line for each file that is whole.
  std::string written() const;
  /// The first file that could not be written and why, one line; empty when all is well.
  const std::string& error() const { return error_; }

 private:
  void write(std::optional<OutputFile>& file, const std::string& text);

  std::optional<OutputFile> csv_, json_;  // empty: not asked for, or given up after an error
  std::string error_;
};

}  // namespace orrery
