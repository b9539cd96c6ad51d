#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/lessons/lesson.h"
#include "compute/kernels/catalog.h"

namespace orrery {

/// A lesson of docs/lessons, compiled into the program.
struct LessonFile {
  int number;             ///< from 1
  std::string_view name;  ///< "03-tiles.md"
  std::string_view text;
  std::string title() const;
};

/// All of them, in the order of their numbers.
const std::vector<LessonFile>& lesson_files();

/// Reads one of them. Throws UsageError that lists the numbers.
Lesson lesson_of(int number, const KernelCatalog& kernels);

}  // namespace orrery
