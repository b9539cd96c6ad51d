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

/// One measurement of a lesson: a kernel with settings and a number of bodies, under a label.
struct LessonRow {
  std::string label;
  std::string kernel_id;
  Settings::Values settings;
  int count = 0;
};

/// A measured quantity of one row, or its ratio to the same quantity of another row.
struct LessonFigure {
  enum class Quantity { time, rate, error };
  Quantity quantity = Quantity::time;
  std::string row;
  std::string other{};  ///< label of the row to divide by; empty: no ratio
};

/// One answer to a lesson's question.
struct LessonChoice {
  double low = 0, high = std::numeric_limits<double>::infinity();  ///< right if the question's ratio is in [low, high)
  std::string row{};                                               ///< label of the row; right if that row is the best
  std::string text;                                                ///< text of the choice, one line
};

/// The question that the reader predicts, with its choices and the measured quantity that decides it.
struct LessonQuestion {
  enum class Kind { ratio, fastest, most_accurate };
  Kind kind = Kind::ratio;
  LessonFigure ratio{};  ///< only for Kind::ratio
  std::vector<LessonChoice> choices{};
};

/// The variant of a lesson for machines with a GPU, or for machines without.
struct LessonPart {
  TextBlocks predict{};  ///< text before the choices
  LessonQuestion question{};
  TextBlocks measure{};
  std::vector<LessonRow> rows{};
  TextBlocks answer{};  ///< text with {figures} in braces, see filled()
  TextBlocks change{};
};

/// One lesson. docs/lessons/README.md describes its file.
struct Lesson {
  static constexpr std::size_t most_rows = 12, most_choices = 6, most_commands = 20, most_bytes = 100'000;

  std::string title;
  TextBlocks introduction{};
  TextBlocks scene_words{};
  SceneRequest scene{};                ///< a generated scene; its count is 0, because each row has its own
  std::vector<Command> physics{};      ///< integrator, law and constants, for the measurements and the window
  std::vector<ViewCommand> picture{};  ///< view settings for the window
  LessonPart without_gpu{};
  std::optional<LessonPart> with_gpu{};  ///< none: without_gpu is for every machine

  const LessonPart& part(bool has_gpu) const { return has_gpu && with_gpu ? *with_gpu : without_gpu; }
};

/// Parses a lesson. Checks its rows against the catalog; if that has no CUDA kernels, accepts all ids that begin with
/// cuda-. Throws UsageError that starts with "NAME:LINE: " and lists the valid choices.
Lesson parse_lesson(std::string_view text, const std::string& name, const KernelCatalog& kernels);

/// Reads and parses a lesson's file. Throws what read_text() and parse_lesson() throw.
Lesson read_lesson(const std::string& file, const KernelCatalog& kernels);

/// Parses "time A", "rate A", "error A", or a ratio such as "time A / B". Throws UsageError without the line number.
LessonFigure parse_figure(std::string_view text, const std::vector<LessonRow>& rows);

/// A lesson of docs/lessons that is compiled into the program.
struct LessonFile {
  int number;             ///< number of the lesson, from 1
  std::string_view name;  ///< "03-tiles.md"
  std::string_view text;
  std::string title() const;
};

/// Returns all lessons, sorted by number.
const std::vector<LessonFile>& lesson_files();

/// Parses the lesson with this number. If there is none, throws UsageError that lists the numbers.
Lesson lesson_of(int number, const KernelCatalog& kernels);

}  // namespace orrery
