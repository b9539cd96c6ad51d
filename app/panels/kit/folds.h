#pragma once

#include <functional>
#include <map>
#include <string>

namespace orrery {

/// Whether a section is open, and whether the user chose that.
struct Fold {
  bool open;
  bool chosen = false;
};
/// By the ids of the sections.
using Folds = std::map<std::string, Fold, std::less<>>;

/// Where section() keeps what is open, while this lives. Without one, sections cannot be folded.
class UseFolds {
 public:
  explicit UseFolds(Folds& folds);
  UseFolds(const UseFolds&) = delete;
  UseFolds& operator=(const UseFolds&) = delete;
  ~UseFolds();
};

}  // namespace orrery
