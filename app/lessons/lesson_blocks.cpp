#include "app/lessons/lesson_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/commands/command_text.h"
#include "app/commands/words.h"
#include "app/text/lines.h"
#include "app/text/parse_value.h"
#include "compute/core/error.h"
#include "compute/core/names.h"

namespace orrery {
namespace {

constexpr std::size_t most_label = 16;

/// Calls read(line) for each line of the block that is not empty.
template <class Read>
void for_each_line(const TextBlock& block, const std::string& name, Read read) {
  std::string_view text = block.text;
  for (int number = block.line + 1; !text.empty(); ++number) {
    const std::string_view line = trimmed(take_line(text));
    if (!line.empty()) at_line(name, number, [&] { read(line); });
  }
}

template <class... Kinds>
struct KindsOf {};

// What a lesson may do to the window: nothing that writes files, ends the run or measures.
using PhysicsKinds = KindsOf<SelectIntegrator, SelectLaw, SetTimeStep, SetEta, SetSoftening, SetRepulsion, SetDrag>;
using PictureKinds = KindsOf<SetAppearance, ShowTrails, ShowVectors, ShowTreeCells, ShowWalk, ShowAxes, ShowLegend,
                             LookFrom, ZoomView, PickBody, Follow>;

template <class Variant, class... Kinds>
bool is_one_of(const Variant& command, KindsOf<Kinds...> /*kinds*/) {
  return (std::holds_alternative<Kinds>(command) || ...);
}

template <class... Physics, class... Picture>
std::string allowed_commands(KindsOf<Physics...> /*physics*/, KindsOf<Picture...> /*picture*/) {
  const std::array<std::string_view, 1 + sizeof...(Physics) + sizeof...(Picture)> names{
      row_of<LoadScene>.name, row_of<Physics>.name..., row_of<Picture>.name...};
  return joined(names);
}

void take_scene(const SceneRequest& asked, Lesson& lesson) {
  if (!asked.file.empty()) {
    throw UsageError("a lesson is one file: it takes a generated scene, no file; scenes: " + joined_ids(scenes()));
  }
  if (asked.count > 0) throw UsageError("the number of bodies belongs to the rows of Measure: n=BODIES");
  (void)find_scene(asked.scene);
  lesson.scene = asked;
}

bool is_label(std::string_view word) {
  return !word.empty() && word.size() <= most_label &&
         std::ranges::all_of(word, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

std::string labels_of(const std::vector<LessonRow>& rows) {
  return joined(rows, [](const LessonRow& row) { return row.label; });
}

std::string checked_label(std::string_view word, const std::vector<LessonRow>& rows) {
  if (std::ranges::find(rows, word, &LessonRow::label) != rows.end()) return std::string{word};
  throw UsageError(fmt::format("'{}' is no row of Measure; rows: {}", word, labels_of(rows)));
}

bool has_cuda(const KernelCatalog& kernels) {
  return std::ranges::any_of(kernels.all(), [](const KernelPtr& kernel) { return kernel->backend == Backend::cuda; });
}

void check_kernel(const LessonRow& row, const KernelCatalog& kernels) {
  if (row.kernel_id.starts_with("cuda-") && !has_cuda(kernels)) return;
  (void)Settings{*kernels.find(row.kernel_id), row.settings};  // throws as the simulation would
}

LessonRow read_row(std::string_view line) {
  LessonRow row{.label = std::string{take_word(line)}, .kernel_id = {}, .settings = {}};
  if (!is_label(row.label) || take_word(line) != "=" || line.empty()) {
    throw UsageError(
        fmt::format("a row is LABEL = KERNEL SETTING=VALUE... n=BODIES, with a label of at most {} small letters, "
                    "digits and '-'",
                    most_label));
  }
  row.kernel_id = take_word(line);
  while (!line.empty()) {
    const std::string_view word = take_word(line);
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == word.size()) {
      throw UsageError(fmt::format("'{}' is no setting; it must be NAME=VALUE, such as n=4k", word));
    }
    const std::string key{word.substr(0, equals)}, value{word.substr(equals + 1)};
    const bool twice = key == "n" ? row.count > 0 : row.settings.contains(key);
    if (twice) throw UsageError(fmt::format("{} is given twice", key));
    if (key == "n") {
      row.count = parse_count("n", value, body_counts);
    } else {
      row.settings[key] = value;
    }
  }
  if (row.count == 0) throw UsageError("a row needs its number of bodies: n=BODIES, such as n=4k");
  return row;
}

/// Takes "WORDS:" off the line and returns it without the colon.
std::string_view take_key(std::string_view& line) {
  const std::size_t colon = line.find(':');
  const std::string_view key = trimmed(line.substr(0, colon));
  line = colon == std::string_view::npos ? std::string_view{} : trimmed(line.substr(colon + 1));
  if (key.empty() || line.empty()) throw UsageError("a choice is 'KEY: WORDS', such as 'below 2: less than twice'");
  return key;
}

double parse_bound(std::string_view text) {
  return parse_in("a bound of a choice", text, Range<double>{0, 1e12, "", true});
}

LessonChoice read_range(std::string_view line) {
  LessonChoice choice;
  std::string_view key = take_key(line);
  choice.text = line;
  const std::string_view first = take_word(key);
  if (first == "below") {
    choice.high = parse_bound(key);
  } else if (first == "above") {
    choice.low = parse_bound(key);
  } else {
    choice.low = parse_bound(first);
    if (take_word(key) != "to") throw UsageError("a choice begins with 'below X:', 'X to Y:' or 'above X:'");
    choice.high = parse_bound(key);
  }
  return choice;
}

/// Every ratio must belong to one choice.
void check_order(const LessonChoice& choice, const std::vector<LessonChoice>& before) {
  const double begin = before.empty() ? 0 : before.back().high;
  if (choice.low != begin || !(choice.high > choice.low)) {
    const std::string must = before.empty()         ? "the first choice must be 'below X:'"
                             : std::isfinite(begin) ? fmt::format(
                                                          "this choice must begin at {0:g}, where the one before ends: "
                                                          "'{0:g} to Y:' or 'above {0:g}:'",
                                                          begin)
                                                    : "no choice can follow 'above X:'";
    throw UsageError("choices must be ranges without gaps, in ascending order: " + must);
  }
}

}  // namespace

void read_window_block(const TextBlock& block, const std::string& name, Lesson& lesson) {
  std::size_t commands = 0;
  bool has_scene = false;
  for_each_line(block, name, [&](std::string_view line) {
    const std::string_view text = trimmed(without_comment(line));
    if (text.empty()) return;
    if (++commands > Lesson::most_commands) {
      throw UsageError(fmt::format("a lesson has at most {} commands", Lesson::most_commands));
    }
    const Request request = parse_command(text);
    const auto* command = std::get_if<Command>(&request);
    const auto* picture = std::get_if<ViewCommand>(&request);
    if (const auto* load = command_if<LoadScene>(request)) {
      if (std::exchange(has_scene, true)) throw UsageError("a lesson has one scene");
      take_scene(load->request, lesson);
    } else if (command && is_one_of(*command, PhysicsKinds{})) {
      lesson.physics.push_back(*command);
    } else if (picture && is_one_of(*picture, PictureKinds{})) {
      lesson.picture.push_back(*picture);
    } else {
      throw UsageError(fmt::format("'{}' cannot be used in a lesson; allowed commands: {}",
                                   text.substr(0, text.find(' ')), allowed_commands(PhysicsKinds{}, PictureKinds{})));
    }
  });
  if (!has_scene) {
    throw UsageError(
        fmt::format("{}:{}: it has no scene: a line 'scene NAME'; scenes: {}", name, block.line, joined_ids(scenes())));
  }
}

std::vector<LessonRow> read_measure_block(const TextBlock& block, const std::string& name, const KernelCatalog& kernels,
                                          const SceneRequest& scene) {
  std::vector<LessonRow> rows;
  for_each_line(block, name, [&](std::string_view line) {
    if (rows.size() == Lesson::most_rows) {
      throw UsageError(fmt::format("a lesson measures at most {} rows", Lesson::most_rows));
    }
    LessonRow row = read_row(line);
    if (std::ranges::find(rows, row.label, &LessonRow::label) != rows.end()) {
      throw UsageError(fmt::format("two rows are called '{}'", row.label));
    }
    check_kernel(row, kernels);
    const SceneInfo& info = find_scene(scene.scene);
    if (row.count < info.min_count || (info.fixed_count > 0 && row.count != info.fixed_count)) {
      throw UsageError(
          info.fixed_count > 0
              ? fmt::format("n cannot be {}: the scene {} has {}", row.count, info.id, info.fixed_count)
              : fmt::format("n cannot be {}: the scene {} has {} at least", row.count, info.id, info.min_count));
    }
    rows.push_back(std::move(row));
  });
  if (rows.size() < 2) {
    throw UsageError(fmt::format("{}:{}: a lesson compares at least two rows: LABEL = KERNEL SETTING=VALUE... n=BODIES",
                                 name, block.line));
  }
  return rows;
}

LessonFigure parse_figure(std::string_view text, const std::vector<LessonRow>& rows) {
  using Quantity = LessonFigure::Quantity;
  constexpr std::array<std::string_view, 3> quantities{"time", "rate", "error"};
  std::string_view rest = trimmed(text);
  LessonFigure figure;
  figure.quantity = std::array{Quantity::time, Quantity::rate,
                               Quantity::error}[parse_choice("the quantity", take_word(rest), quantities)];
  figure.row = checked_label(take_word(rest), rows);
  if (rest.empty()) return figure;
  if (take_word(rest) != "/") throw UsageError(fmt::format("'{}' must be QUANTITY ROW or QUANTITY ROW / ROW", text));
  figure.other = checked_label(rest, rows);
  return figure;
}

LessonQuestion read_predict_block(const TextBlock& block, const std::string& name, const std::vector<LessonRow>& rows) {
  using Kind = LessonQuestion::Kind;
  LessonQuestion question;
  bool begun = false;
  for_each_line(block, name, [&](std::string_view line) {
    if (!std::exchange(begun, true)) {
      if (line == "fastest" || line == "most accurate") {
        question.kind = line == "fastest" ? Kind::fastest : Kind::most_accurate;
      } else {
        question.ratio = parse_figure(line, rows);
        if (question.ratio.other.empty()) {
          throw UsageError("a question is 'time ROW / ROW', 'error ROW / ROW', 'fastest' or 'most accurate'");
        }
      }
      return;
    }
    if (question.choices.size() == Lesson::most_choices) {
      throw UsageError(fmt::format("a question has at most {} choices", Lesson::most_choices));
    }
    if (question.kind == Kind::ratio) {
      LessonChoice choice = read_range(line);
      check_order(choice, question.choices);
      question.choices.push_back(std::move(choice));
    } else {
      std::string row = checked_label(take_key(line), rows);
      if (std::ranges::find(question.choices, row, &LessonChoice::row) != question.choices.end()) {
        throw UsageError(fmt::format("two choices are for the row '{}'", row));
      }
      question.choices.push_back({.row = std::move(row), .text = std::string{line}});
    }
  });
  if (question.choices.size() < 2) {
    throw UsageError(fmt::format("{}:{}: a question needs at least two choices", name, block.line));
  }
  if (question.kind == Kind::ratio && std::isfinite(question.choices.back().high)) {
    throw UsageError(
        fmt::format("{0}:{1}: the last choice must be 'above {2:g}:'", name, block.line, question.choices.back().high));
  }
  return question;
}

}  // namespace orrery
