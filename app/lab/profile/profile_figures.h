#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// A number of a profile.
struct ProfileFigure {
  const char* id;
  const char* title;
  const char* unit;      ///< as shown behind the number; empty: none
  const char* sentence;  ///< what it means
  /// GPU metrics that hold it; the first that the chip has is used. Empty: it is computed or measured otherwise.
  std::array<const char*, 2> metrics{};
  double scale = 1;         ///< from the metric to `unit`
  bool bar = false;         ///< a share of a limit, in percent
  bool of_machine = false;  ///< a limit, which no kernel changes
};

/// In the order in which they are shown. Which ones a profile has depends on the chip and on the backend.
std::span<const ProfileFigure> profile_figures();
/// Null if there is none of this id.
const ProfileFigure* find_profile_figure(std::string_view id);
/// "87.3 %", "1.83 T/s"; "-" if it is not finite.
std::string figure_text(const ProfileFigure& figure, double value);

/// All metrics that a profile of a CUDA kernel reads.
std::vector<std::string> profile_metrics();

}  // namespace orrery
