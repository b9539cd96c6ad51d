// `orrery lesson`: teaches in the terminal.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <stdexcept>
#include <utility>

#include "app/cli/commands.h"
#include "app/cli/measuring.h"
#include "app/cli/option_parts.h"
#include "app/lessons/lesson.h"
#include "app/lessons/lesson_measurement.h"
#include "app/text/console.h"
#include "app/text/parse_value.h"
#include "app/text/table.h"
#include "compute/core/error.h"
#include "compute/core/stop_signal.h"
#include "compute/core/text.h"
#include "compute/sim/backends.h"

namespace orrery {
namespace {

std::string list_text(const TextStyle& style) {
  Table table{"rl", {"number", "lesson"}};
  for (const LessonFile& file : lesson_files()) table.add({std::to_string(file.number), file.title()});
  return table.text(style) + "\n" +
         paragraph("'orrery lesson N' runs one of them. docs/lessons/README.md describes how to write another.", style);
}

std::string block_text(const TextBlock& block, const TextStyle& style) {
  switch (block.kind) {
    case TextBlock::Kind::code: {
      std::string text, rest = block.text;
      for (std::string_view lines = rest; !lines.empty();) text += fmt::format("    {}\n", take_line(lines));
      return text + '\n';
    }
    case TextBlock::Kind::bullet:
      return paragraph("- " + plain_text(block.text), style, 2);
    case TextBlock::Kind::table: {
      Table table{std::string(block.rows.front().size(), 't'), block.rows.front()};
      for (std::size_t i = 1; i < block.rows.size(); ++i) {
        std::vector<Cell> cells;
        for (const std::string& cell : block.rows[i]) cells.emplace_back(plain_text(cell));
        table.add(std::move(cells));
      }
      return table.text(style) + '\n';
    }
    default:
      return paragraph(plain_text(block.text), style) + (style.markdown ? "" : "\n");
  }
}

std::string blocks_text(const TextBlocks& blocks, const TextStyle& style) {
  std::string text;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    text += block_text(blocks[i], style);
    const bool ends_list = blocks[i].kind == TextBlock::Kind::bullet &&
                           (i + 1 == blocks.size() || blocks[i + 1].kind != TextBlock::Kind::bullet);
    if (ends_list) text += '\n';
  }
  return text;
}

std::string heading(const std::string& words, const TextStyle& style, int level = 2) {
  if (style.markdown) return fmt::format("{} {}\n\n", std::string(static_cast<std::size_t>(level), '#'), words);
  return fmt::format("{}\n{}\n\n", words, std::string(columns_of(words), level == 1 ? '=' : '-'));
}

std::string choices_text(const LessonQuestion& question, const TextStyle& style) {
  std::string text;
  for (std::size_t i = 0; i < question.choices.size(); ++i) {
    text += paragraph(fmt::format("{})  {}", letter_of(i), plain_text(question.choices[i].text)), style, 4);
  }
  return text + '\n';
}

std::string bar(double ms, double longest_ms) {
  constexpr double most = 20;
  if (!std::isfinite(ms) || !(longest_ms > 0)) return "";
  return std::string(static_cast<std::size_t>(std::max(1.0, std::round(most * ms / longest_ms))), '#');
}

std::string results_text(const LessonPart& part, const LessonResults& results, const TextStyle& style) {
  double longest_ms = 0;
  for (const LessonResult& result : results)
    longest_ms = std::max(longest_ms, std::isfinite(result.ms) ? result.ms : 0);
  Table table{"lltrrlrrl",
              {"row", "kernel", "settings", "n", "ms", "95% interval", "interactions/s", "error", "time"},
              {"95% interval", "time"}};
  for (std::size_t i = 0; i < results.size(); ++i) {
    const LessonRow& row = part.rows[i];
    const LessonResult& result = results[i];
    std::string settings;
    for (const auto& [name, value] : row.settings)
      settings += fmt::format("{}{}={}", settings.empty() ? "" : " ", name, value);
    const bool interval = std::isfinite(result.low_ms) && std::isfinite(result.high_ms);
    table.add({row.label, row.kernel_id, settings, format_count(row.count),
               result.problem.empty() ? significant(result.ms) : "failed",
               interval ? fmt::format("{} to {}", significant(result.low_ms), significant(result.high_ms)) : "",
               with_prefix(result.interactions_per_s), scientific(result.error, 2), bar(result.ms, longest_ms)});
  }
  std::string text = table.text(style) + '\n';
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].problem.empty()) text += paragraph(part.rows[i].label + ": " + results[i].problem, style) + '\n';
  }
  return text;
}

std::string machine_text(const LessonMachine& machine) {
  return fmt::format("{}, {}{}", machine.processor, counted(machine.threads, "thread"),
                     machine.gpu.empty() ? "" : "; " + machine.gpu);
}

/// The choice that was typed; none if the reader wants none.
std::optional<std::size_t> asked_prediction(const LessonQuestion& question) {
  const char last = letter_of(question.choices.size() - 1);
  for (;;) {
    console::print("Your prediction (a to {}, or Enter for none): ", last);
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    const std::string_view word = trimmed(line);
    if (word.empty()) return std::nullopt;
    if (word.size() == 1 && word.front() >= 'a' && word.front() <= last) {
      return static_cast<std::size_t>(word.front() - 'a');
    }
    console::print("'{}' is no choice: type a letter from a to {}, or press Enter.\n", word, last);
  }
}

std::string verdict_text(const Judgement& judgement, std::optional<std::size_t> predicted) {
  const std::string text = "Measured: " + verdict(judgement);
  if (!predicted || !judgement.decided()) return text;
  return text + fmt::format(" You predicted {}: {}.", letter_of(*predicted),
                            judgement.right[*predicted] ? "right" : "not this time");
}

int teach(const KernelCatalog& kernels, const LessonOptions& options, const Lesson& lesson) {
  const TextStyle style = stdout_style(options.table);
  const Backends backends{kernels, options.device};
  const bool on_gpu = !options.cpu && backends.status(Backend::cuda).available;
  const LessonPart& part = lesson.part(on_gpu);
  LessonMachine machine = lesson_machine(backends);
  if (!on_gpu) machine.gpu.clear();
  const LessonResults none(part.rows.size());
  const std::string number = options.number ? fmt::format("Lesson {}: ", *options.number) : std::string{};
  console::show(heading(number + lesson.title, style, 1) + blocks_text(lesson.introduction, style));
  console::show(heading("Predict", style) + blocks_text(filled(part.predict, part, none, machine), style) +
                choices_text(part.question, style));
  const bool asks = options.wait && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
  const std::optional<std::size_t> predicted = asks ? asked_prediction(part.question) : std::nullopt;

  LessonMeasurement measurement{backends, lesson, part};
  measure_to_end(measurement, options.progress, [] {});
  const LessonResults& results = measurement.results();
  console::show(
      heading("Measure", style) + blocks_text(part.measure, style) +
      paragraph(fmt::format("Measured here and now: {}, scene {}.", machine_text(machine), lesson.scene.scene), style) +
      '\n' + results_text(part, results, style));
  if (stop_requested()) {
    console::complain("stopped before the end of the measurement");
    return stop_status();
  }
  console::show(paragraph(verdict_text(judge(part, results), predicted), style) + '\n');
  console::show(heading("Answer", style) + blocks_text(filled(part.answer, part, results, machine), style));
  console::show(heading("Change", style) + blocks_text(part.change, style));
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].problem.empty()) {
      throw std::runtime_error(fmt::format("{}: {}", part.rows[i].label, results[i].problem));
    }
  }
  return 0;
}

}  // namespace

void declare_lesson(CLI::App& app, OptionDraft& draft) {
  LessonOptions& lesson = draft.lesson;
  add(app, "N", "N", "number of the lesson (lists all lessons)", [&](const std::string& text) {
    lesson.number = static_cast<int>(parse_integer("the number of a lesson", text, 1, lesson_files().back().number));
  });
  add_file(app, "--file", "runs a lesson of your own: a Markdown file, see docs/lessons/README.md", lesson.file);
  app.add_flag(
         "--no-wait", [&](std::int64_t) { lesson.wait = false; }, "does not ask for your prediction")
      ->disable_flag_override();
  add_flag(app, "--cpu", lesson.cpu, "measures CPU kernels, even if there is a GPU");
  add_progress(app, lesson.progress);
  add_table_flags(app, lesson.table);
  add_device(app, draft);
  app.footer(
      "Examples:\n"
      "  orrery lesson                                   lists the lessons\n"
      "  orrery lesson 3                                 asks for a prediction, measures and answers\n"
      "  orrery lesson --file mine.md --no-wait\n"
      "\nThe window has the same lessons: F7.");
}

LessonOptions finish_lesson(const OptionDraft& draft) {
  LessonOptions lesson = draft.lesson;
  lesson.device = draft.device;
  if (lesson.number && !lesson.file.empty()) {
    throw UsageError(fmt::format("the number {} and --file name two lessons: leave out one of them", *lesson.number));
  }
  return lesson;
}

int run_lesson(const KernelCatalog& kernels, const LessonOptions& options) {
  if (!options.file.empty()) return teach(kernels, options, read_lesson(options.file, kernels));
  if (options.number) return teach(kernels, options, lesson_of(*options.number, kernels));
  console::show(list_text(stdout_style(options.table)));
  return 0;
}

}  // namespace orrery
