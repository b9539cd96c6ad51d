#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct Snapshot;
struct SnapshotView;

/// The time and units of a snapshot as lines of text, in the comments of text tables and PLY files: "time = 2.5",
/// "length_cm = 3.0856775814913673e+21", "mass_g = ...", "velocity_cm_s = ...", and "formation_scale_factors = 1" if
/// formation times are these. Reading gives the same bits.
std::vector<std::string> facts_of(const SnapshotView& snapshot);

/// Collects such lines.
class SnapshotFacts {
 public:
  /// Takes a line if it is one of them. Returns what is wrong with its value, such as "time: not a finite number". A
  /// time with a text is another program's: give() notes it.
  std::string take(std::string_view line);
  /// Sets time and units, as far as they were found, and adds notes.
  void give(Snapshot& snapshot) const;

 private:
  std::optional<double> time_, length_, mass_, velocity_, formation_scale_factors_;
  std::vector<std::string> notes_;  // lines that are not read
};

}  // namespace orrery
