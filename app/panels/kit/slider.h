#pragma once

#include <optional>

#include "compute/core/text.h"

namespace orrery {

/// ImGui::SliderScalar over `span`, tinted up to the value: a handle would cover the text.
template <class T>  // float or int
bool filled_slider(const char* label, T& value, const Range<T>& span, const char* format, int flags);

/// A logarithmic slider over `span` with entry by ctrl-click, marked as `id`. The new value while the grab is dragged
/// and when an entry is finished, if it is another than `current`; `own` after a double click.
template <class T>  // float or int
std::optional<T> log_slider(const char* id, T current, const Range<T>& span, const char* format,
                            std::optional<T> own = std::nullopt);

}  // namespace orrery
