// The versions of a kernel file. The window shows them, and hands them over to a program that continues its run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/text/csv.h"

namespace orrery {

/// A version of the file that was compiled.
struct WorkshopVersion {
  int number = 1;
  std::string time;  ///< time of day: "12:03:41"
  bool compiles = false, accepted = false;
  bool unchecked = false;                 ///< whether nothing here can run the version
  std::string error{};                    ///< why it was rejected, one line; empty if not known
  std::optional<double> largest_error{};  ///< largest |da|/|a| of all checks, against the fp64 sum
  std::string remark{};                   ///< which shown bodies the check left out; empty: it used all
  double compile_ms = 0, check_s = 0;
  std::string kernel{};             ///< id for SelectKernel, such as "mine@2"; empty: not selectable in this window
  std::optional<double> step_ms{};  ///< best median time per step with the current system; none: not measured
};

/// Versions of a kernel file, for a program that continues this program's run.
struct KernelHistory {
  struct Version {
    WorkshopVersion facts;  ///< all except step_ms
    std::string text;
  };
  std::string file, kernel_id;
  std::vector<Version> versions;  ///< oldest first
};

/// Returns the history as JSON, without the texts, which may be long.
Json history_json(const KernelHistory& history);

/// Reads the JSON of history_json(). The texts are empty. Throws Json::exception.
KernelHistory history_of(const Json& json);

}  // namespace orrery
