#pragma once

#include <map>
#include <set>
#include <string>

#include "app/text/text_style.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// The settings in a table's cells: all of them if the style is wide; else those that are not initial values, and those
/// in which rows of the same kernel differ.
class SettingsCells {
 public:
  explicit SettingsCells(const TextStyle& style) : all_{style.wide()} {}
  /// Call for every row of the table before the first text(). `kernel` is null if this build does not have it: tables
  /// also show results of earlier runs.
  void add(const std::string& kernel_id, const Settings::Values& values, const KernelInfo* kernel);
  /// "block=128 split=4"
  std::string text(const std::string& kernel_id, const Settings::Values& values) const;

 private:
  struct Seen {
    Settings::Values first, initial;
    std::set<std::string> differing;
  };
  bool all_;
  std::map<std::string, Seen> kernels_;
};

}  // namespace orrery
