#pragma once

#include <imgui.h>

#include <span>
#include <string>
#include <string_view>

namespace orrery {

// A time and what it is made of: a line that names it, a bar of its parts, and their names and times.

struct TimePart {
  const char* name;
  double ms;
  bool known;
  ImU32 colour;
  const char* notes;
};

void time_head(std::string_view title, const std::string& total);
/// The parts side by side, marked as `id`; the rest up to `total_ms` stays empty.
void time_bar(const char* id, std::span<const TimePart> parts, double total_ms);
/// In at most 3 columns, marked as `id.NAME`. Long names need fewer.
void time_legend(const char* id, std::span<const TimePart> parts, int most_columns = 3);

}  // namespace orrery
