#pragma once

#include <string>
#include <vector>

#include "app/lessons/lesson.h"
#include "compute/kernels/catalog.h"

namespace orrery {

// Readers of the blocks between ``` that a lesson is run by. Each throws UsageError that starts with "NAME:LINE: ".

/// "scene plummer", and other commands of a script that change nothing but the simulation's physics and the picture.
void read_window_block(const TextBlock& block, const std::string& name, Lesson& lesson);

/// Lines "LABEL = KERNEL SETTING=VALUE... n=BODIES".
std::vector<LessonRow> read_measure_block(const TextBlock& block, const std::string& name, const KernelCatalog& kernels,
                                          const SceneRequest& scene);

/// "time A / B" and its choices "below 2: WORDS", "2 to 4: WORDS", "above 4: WORDS"; or "fastest" or "most accurate"
/// and choices "LABEL: WORDS" of the rows to choose from.
LessonQuestion read_predict_block(const TextBlock& block, const std::string& name, const std::vector<LessonRow>& rows);

/// "time A", "rate A", "error A", or one of them with "/ B". Throws UsageError without a place.
LessonFigure parse_figure(std::string_view text, const std::vector<LessonRow>& rows);

}  // namespace orrery
