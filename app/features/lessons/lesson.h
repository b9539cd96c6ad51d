#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/text/markdown.h"
#include "app/ui_state/command.h"
#include "compute/kernels/catalog.h"
#include "compute/scenes/scene.h"

namespace orrery {

/// A measurement under one label: a kernel with settings and a number of bodies.
struct LessonRow {
  std::string label;
  std::string kernel_id;
  Settings::Values settings;
  int count = 0;
};

/// A measured quantity of one row, or the ratio of two rows' quantities.
struct LessonFigure {
  enum class Quantity { time, rate, error };
  Quantity quantity = Quantity::time;
  std::string row;
  std::string other{};  ///< the divisor; empty: none
};

/// One answer to a lesson's question.
struct LessonChoice {
  double low = 0, high = std::numeric_limits<double>::infinity();  ///< right if the ratio is in [low, high)
  std::string row{};                                               ///< right if this row is the best
  std::string text;                                                ///< one line
};

/// The question to predict, and what decides it.
struct LessonQuestion {
  enum class Kind { ratio, fastest, most_accurate };
  Kind kind = Kind::ratio;
  LessonFigure ratio{};  ///< of Kind::ratio
  std::vector<LessonChoice> choices{};
};

/// The half of a lesson that is for one kind of machine: with a GPU, or without.
struct LessonPart {
  TextBlocks predict{};  ///< the words before the choices
  LessonQuestion question{};
  TextBlocks measure{};
  std::vector<LessonRow> rows{};
  TextBlocks answer{};  ///< with {figures} in braces, see filled()
  TextBlocks change{};
};

/// One lesson, as docs/lessons/README.md describes its file.
struct Lesson {
  static constexpr std::size_t most_rows = 12, most_choices = 6, most_commands = 20, most_bytes = 100'000;

  std::string title;
  TextBlocks introduction{};
  TextBlocks scene_words{};
  SceneRequest scene{};                ///< generated; its count is 0: each row has its own
  std::vector<Command> physics{};      ///< integrator, law and constants, for measuring and for the window
  std::vector<ViewCommand> picture{};  ///< for the window
  LessonPart without_gpu{};
  std::optional<LessonPart> with_gpu{};  ///< none: the same on every machine

  const LessonPart& part(bool has_gpu) const { return has_gpu && with_gpu ? *with_gpu : without_gpu; }
};

/// Reads a lesson. Rows are checked against the catalog; if it has no CUDA kernels, ids that begin with cuda- are
/// taken as they are. Throws UsageError that starts with "NAME:LINE: " and names the valid choices.
Lesson parse_lesson(std::string_view text, const std::string& name, const KernelCatalog& kernels);

/// Reads a lesson from a file. Throws std::runtime_error as read_text() does.
Lesson read_lesson(const std::string& file, const KernelCatalog& kernels);

/// Reads "time A", "rate A", "error A", or one of them with "/ B". Throws UsageError without a place.
LessonFigure parse_figure(std::string_view text, const std::vector<LessonRow>& rows);

/// A lesson of docs/lessons, compiled into the program.
struct LessonFile {
  int number;             ///< from 1
  std::string_view name;  ///< "03-tiles.md"
  std::string_view text;
  std::string title() const;
};

/// All lessons, in the order of their numbers.
const std::vector<LessonFile>& lesson_files();

/// Reads the lesson with this number. Throws UsageError that lists the numbers.
Lesson lesson_of(int number, const KernelCatalog& kernels);

}  // namespace orrery
