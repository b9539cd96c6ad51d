#pragma once

#include <imgui.h>

#include <string>

#include "app/ui_state/profile_status.h"

namespace orrery {

/// A name, shortened where the line is narrow, and a value at the end of the line, in small type.
void labelled_value(const char* name, const std::string& value, ImU32 name_colour);

/// One stacked bar of all reasons, the greatest first, and the same of `before`, which may be null; below it one row
/// for each reason with its share, its change and its sentence. The small ones are in a section that opens.
void stall_bars(const KernelProfile& profile, const KernelProfile* before);

/// The limits of the GPU by its arithmetic and its memory, and a dot for each profile that has both rates.
void roofline_plot(const ProfileStatus& profiles, ImVec2 size);

}  // namespace orrery
