#pragma once

#include <map>
#include <set>
#include <string>

#include "app/text/text_style.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// What a table's cells show of settings: all of them if the style is wide; else those that are not initial values, and
/// those in which rows of the same kernel differ.
class SettingsCells {
 public:
  explicit SettingsCells(const TextStyle& style) : all_{style.wide()} {}
  /// Every row of the table, before the first text(). `kernel` is null if this build does not know it: results of
  /// earlier runs are tables, too.
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
