// Reads lessons from text, from files, and from the texts that are compiled into the program.
#include "app/features/lessons/lesson.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/commands/command_entry.h"
#include "app/commands/command_text.h"
#include "app/features/lessons/lesson_results.h"
#include "app/text/input_file.h"
#include "app/text/parse_value.h"
#include "app/ui_state/camera_commands.h"
#include "app/ui_state/overlays_commands.h"
#include "app/ui_state/window_commands.h"
#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/kernels/catalog.h"

namespace orrery {

/// Returns the names and texts of the lessons in docs/lessons.
std::span<const std::pair<std::string_view, std::string_view>> embedded_lessons();

namespace {

constexpr std::size_t most_label = 16;

/// Calls read(line) for each line of the block that is not empty. Adds the line's number to errors.
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

// The commands that a lesson may give to the window. None of them writes files, ends the run or measures.
using PhysicsKinds = KindsOf<SelectIntegrator, SelectLaw, SetTimeStep, SetEta, SetSoftening, SetRepulsion, SetDrag>;

using PictureKinds = KindsOf<SetAppearance, ShowTrails, ShowVectors, ShowTreeCells, ShowWalk, ShowAxes, ShowLegend,
                             LookFrom, ZoomView, PickBody, Follow>;

template <class... Kinds>
bool is_one_of(const Request& request, KindsOf<Kinds...> /*kinds*/) {
  return (command_if<Kinds>(request) || ...);
}

template <class... Physics, class... Picture>
std::string allowed_commands(KindsOf<Physics...> /*physics*/, KindsOf<Picture...> /*picture*/) {
  const std::array<std::string_view, 1 + sizeof...(Physics) + sizeof...(Picture)> names{
      entry_of(typeid(LoadScene)).name, entry_of(typeid(Physics)).name..., entry_of(typeid(Picture)).name...};
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
  (void)Settings{*kernels.find(row.kernel_id), row.settings};  // throws for an unknown kernel or setting
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

/// Removes "KEY:" from the beginning of the line, and returns KEY.
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

/// Throws unless the choice's range begins where the previous one ends. Thus every ratio belongs to one choice.
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

// Parsers of the code blocks, between lines of ```, of a lesson. All throw UsageError that starts with "NAME:LINE: ".

/// Parses "scene plummer", and commands that change only the simulation's physics and the picture.
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
    } else if (command && is_one_of(request, PhysicsKinds{})) {
      lesson.physics.push_back(*command);
    } else if (picture && is_one_of(request, PictureKinds{})) {
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

/// Parses lines "LABEL = KERNEL SETTING=VALUE... n=BODIES".
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

/// Parses the question and its choices: "time A / B" with "below 2: WORDS", "2 to 4: WORDS", "above 4: WORDS"; or
/// "fastest" or "most accurate" with "LABEL: WORDS" for each row to choose from.
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

constexpr const char* for_gpu = "With a GPU";
constexpr const char* for_cpu = "Without a GPU";

enum PartIndex : std::size_t { scene_part, predict_part, measure_part, answer_part, change_part, part_count };

constexpr std::array<std::string_view, part_count> part_titles{"Scene", "Predict", "Measure", "Answer", "Change"};

/// Tag of the code block that each part must hold; empty: none.
constexpr std::array<std::string_view, part_count> part_tags{"window", "predict", "measure", "", ""};

[[noreturn]] void refuse(const std::string& name, int line, const std::string& what) {
  throw UsageError(fmt::format("{}:{}: {}", name, line, what));
}

/// Text of a part: the blocks for all machines, and those only for machines with or without a GPU.
struct PartText {
  int line = 0;  // first line; 0: the part is missing
  TextBlocks both, gpu, cpu;
  bool has_gpu = false, has_cpu = false;

  TextBlocks blocks(bool on_gpu) const {
    TextBlocks all = both;
    const TextBlocks& own = on_gpu ? gpu : cpu;
    all.insert(all.end(), own.begin(), own.end());
    return all;
  }
};

using PartTexts = std::array<PartText, part_count>;

void add_part_of_machine(PartText& part, TextSection& section, const std::string& name) {
  const bool on_gpu = section.title == for_gpu;
  if (!on_gpu && section.title != for_cpu) {
    refuse(
        name, section.line,
        fmt::format("unknown heading '{}'; below a part it is '### {}' or '### {}'", section.title, for_gpu, for_cpu));
  }
  if (std::exchange(on_gpu ? part.has_gpu : part.has_cpu, true)) {
    refuse(name, section.line, fmt::format("this part has '### {}' already", section.title));
  }
  (on_gpu ? part.gpu : part.cpu) = std::move(section.blocks);
}

/// Returns the parts of a lesson: its sections after the title. Throws if their headings or order are wrong.
PartTexts parts_of(std::vector<TextSection>& sections, const std::string& name) {
  PartTexts parts;
  int present = -1;  // index of the current part; -1: before the first
  for (std::size_t i = 1; i < sections.size(); ++i) {
    TextSection& section = sections[i];
    if (section.level == 3 && present > static_cast<int>(scene_part)) {
      add_part_of_machine(parts[static_cast<std::size_t>(present)], section, name);
      continue;
    }
    const bool next = present + 1 < static_cast<int>(part_count) && section.level == 2 &&
                      section.title == part_titles[static_cast<std::size_t>(present + 1)];
    if (!next) {
      refuse(name, section.line,
             fmt::format("'{}' cannot stand here; after the introduction, a lesson has the headings '## {}' in this "
                         "order",
                         section.title, fmt::join(part_titles, "', '## ")));
    }
    ++present;
    parts[static_cast<std::size_t>(present)].line = section.line;
    parts[static_cast<std::size_t>(present)].both = std::move(section.blocks);
  }
  if (present + 1 < static_cast<int>(part_count)) {
    refuse(
        name, sections.back().line,
        fmt::format("the lesson ends without the heading '## {}'", part_titles[static_cast<std::size_t>(present + 1)]));
  }
  return parts;
}

/// Removes the code block with the part's tag from `blocks`, and returns it.
TextBlock take_tagged(TextBlocks& blocks, PartIndex part, int line, const std::string& name) {
  const std::string_view tag = part_tags[part];
  const auto is_it = [&](const TextBlock& block) { return block.kind == TextBlock::Kind::code && block.tag == tag; };
  const auto found = std::ranges::find_if(blocks, is_it);
  if (found == blocks.end()) {
    refuse(name, line,
           fmt::format("this part needs a block between lines ```{} and ```, for every machine or one for "
                       "each under '### {}' and '### {}'",
                       tag, for_gpu, for_cpu));
  }
  TextBlock block = std::move(*found);
  blocks.erase(found);
  if (const auto second = std::ranges::find_if(blocks, is_it); second != blocks.end()) {
    refuse(name, second->line, fmt::format("this part has two blocks ```{}; it must have one", tag));
  }
  return block;
}

LessonPart part_for(bool on_gpu, const PartTexts& parts, const SceneRequest& scene_request, const std::string& name,
                    const KernelCatalog& kernels) {
  LessonPart part;
  part.measure = parts[measure_part].blocks(on_gpu);
  part.rows = read_measure_block(take_tagged(part.measure, measure_part, parts[measure_part].line, name), name, kernels,
                                 scene_request);
  part.predict = parts[predict_part].blocks(on_gpu);
  part.question =
      read_predict_block(take_tagged(part.predict, predict_part, parts[predict_part].line, name), name, part.rows);
  part.answer = parts[answer_part].blocks(on_gpu);
  part.change = parts[change_part].blocks(on_gpu);
  check_braces(part.predict, name, part);
  check_braces(part.answer, name, part);
  check_sources(part.answer, name);
  if (part.answer.empty()) refuse(name, parts[answer_part].line, "the answer is empty");
  if (part.change.empty())
    refuse(name, parts[change_part].line, "this part is empty; it asks the reader to change something");
  return part;
}

}  // namespace

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

Lesson parse_lesson(std::string_view text, const std::string& name, const KernelCatalog& kernels) {
  if (text.size() > Lesson::most_bytes) {
    refuse(name, 1, fmt::format("a lesson has at most {} bytes", Lesson::most_bytes));
  }
  std::vector<TextSection> sections = parse_markdown(text, name);
  if (sections.empty() || sections.front().level != 1) refuse(name, 1, "a lesson begins with its title: '# TITLE'");
  Lesson lesson{.title = sections.front().title};
  lesson.introduction = std::move(sections.front().blocks);
  const PartTexts parts = parts_of(sections, name);
  lesson.scene_words = parts[scene_part].both;
  read_window_block(take_tagged(lesson.scene_words, scene_part, parts[scene_part].line, name), name, lesson);
  lesson.without_gpu = part_for(false, parts, lesson.scene, name, kernels);
  const bool has_gpu_part = std::ranges::any_of(parts, &PartText::has_gpu);
  if (has_gpu_part) lesson.with_gpu = part_for(true, parts, lesson.scene, name, kernels);
  for (const LessonRow& row : lesson.without_gpu.rows) {
    if (row.kernel_id.starts_with("cuda-")) {
      refuse(name, parts[measure_part].line,
             fmt::format("'{}' needs a GPU: without one, its rows must be kernels of the CPU, under '### {}'",
                         row.kernel_id, for_cpu));
    }
  }
  return lesson;
}

Lesson read_lesson(const std::string& file, const KernelCatalog& kernels) {
  std::string text;
  try {
    text = read_text(file);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("cannot read the lesson {}", failure_text(error)));
  }
  return parse_lesson(text, file, kernels);
}

std::string LessonFile::title() const {
  std::string_view rest = text;
  const std::string_view line = take_line(rest);
  return std::string{trimmed(line.substr(std::min(line.find_first_not_of('#'), line.size())))};
}

const std::vector<LessonFile>& lesson_files() {
  static const std::vector<LessonFile> files = [] {
    std::vector<LessonFile> all;
    for (const auto& [name, bytes] : embedded_lessons()) {
      int number = 0;
      std::from_chars(name.data(), name.data() + name.size(), number);
      all.push_back({number, name, bytes});
    }
    std::ranges::sort(all, {}, &LessonFile::number);
    return all;
  }();
  return files;
}

Lesson lesson_of(int number, const KernelCatalog& kernels) {
  const std::vector<LessonFile>& files = lesson_files();
  const auto file = std::ranges::find(files, number, &LessonFile::number);
  if (file == files.end()) {
    throw UsageError(
        fmt::format("there is no lesson {}; lessons: {} to {}", number, files.front().number, files.back().number));
  }
  return parse_lesson(file->text, "docs/lessons/" + std::string{file->name}, kernels);
}

}  // namespace orrery
