#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <stdexcept>
#include <utility>

#include "app/cli/measuring.h"
#include "app/cli/option_groups.h"
#include "app/cli/verb.h"
#include "app/features/lessons/lesson.h"
#include "app/features/lessons/lesson_results.h"
#include "app/text/console.h"
#include "app/text/parse_value.h"
#include "app/text/table.h"
#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/core/process.h"
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
  for (const Measurement& result : results)
    longest_ms = std::max(longest_ms, result.measured() ? result.step_ms.median : 0);
  Table table{"lltrrlrrl",
              {"row", "kernel", "settings", "n", "ms", "95% interval", "interactions/s", "error", "time"},
              {"95% interval", "time"}};
  for (std::size_t i = 0; i < results.size(); ++i) {
    const LessonRow& row = part.rows[i];
    const Measurement& result = results[i];
    std::string settings;
    for (const auto& [name, value] : row.settings)
      settings += fmt::format("{}{}={}", settings.empty() ? "" : " ", name, value);
    const auto [median, min, low, high] = result.step_ms;
    const bool interval = std::isfinite(low) && std::isfinite(high);
    table.add({row.label, row.kernel_id, settings, format_count(row.count),
               result.problem ? "failed" : significant(median),
               interval ? fmt::format("{} to {}", significant(low), significant(high)) : "",
               with_prefix(result.interactions_per_s), scientific(result.errors().median, 2), bar(median, longest_ms)});
  }
  std::string text = table.text(style) + '\n';
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].problem) text += paragraph(part.rows[i].label + ": " + results[i].problem.text, style) + '\n';
  }
  return text;
}

std::string machine_text(const LessonMachine& machine) {
  return fmt::format("{}, {}{}", machine.processor, counted(machine.threads, "thread"),
                     machine.gpu.empty() ? "" : "; " + machine.gpu);
}

/// Asks the reader for a prediction on the terminal. Returns none if the reader makes none.
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

/// `orrery lesson`: lists the lessons, or prints one, measures it and prints its answer.
struct LessonVerb final : Verb {
  void declare(CommandLine& line) override {
    line.add("N", "N", "number of the lesson (lists all lessons)", [this](const std::string& text) {
      number = static_cast<int>(parse_integer("the number of a lesson", text, 1, lesson_files().back().number));
    });
    line.add_file("--file", "runs a lesson of your own: a Markdown file, see docs/lessons/README.md", file);
    line.add_flag("--no-wait", no_wait, "does not ask for your prediction");
    line.add_flag("--cpu", cpu, "measures CPU kernels, even if there is a GPU");
    add_progress(line, progress);
    add_table_flags(line, flags);
    device.declare(line);
    line.add_footer(
        "Examples:\n"
        "  orrery lesson                                   lists the lessons\n"
        "  orrery lesson 3                                 asks for a prediction, measures and answers\n"
        "  orrery lesson --file mine.md --no-wait\n"
        "\nThe window has the same lessons: F7.");
  }

  void finish(const CommandLine& /*line*/) override {
    if (!number || file.empty()) return;
    throw UsageError(fmt::format("the number {} and --file name two lessons: leave out one of them", *number));
  }

  int run(const Program& program) const override {
    if (!file.empty()) return teach(program.kernels, read_lesson(file, program.kernels));
    if (number) return teach(program.kernels, lesson_of(*number, program.kernels));
    console::show(list_text(stdout_style(flags)));
    return 0;
  }

  int teach(const KernelCatalog& kernels, const Lesson& lesson) const {
    const TextStyle style = stdout_style(flags);
    const Backends backends = device.backends(kernels);
    const bool on_gpu = !cpu && backends.status(Backend::cuda).available;
    const LessonPart& part = lesson.part(on_gpu);
    LessonMachine machine = lesson_machine(backends);
    if (!on_gpu) machine.gpu.clear();
    const LessonResults none(part.rows.size());
    const std::string which = number ? fmt::format("Lesson {}: ", *number) : std::string{};
    console::show(heading(which + lesson.title, style, 1) + blocks_text(lesson.introduction, style));
    console::show(heading("Predict", style) + blocks_text(filled(part.predict, part, none, machine), style) +
                  choices_text(part.question, style));
    const bool asks = !no_wait && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
    const std::optional<std::size_t> predicted = asks ? asked_prediction(part.question) : std::nullopt;

    LessonMeasurement measurement{backends, lesson, part};
    measure_to_end(measurement, progress, [] {});
    const LessonResults& results = measurement.results();
    console::show(
        heading("Measure", style) + blocks_text(part.measure, style) +
        paragraph(fmt::format("Measured here and now: {}, scene {}.", machine_text(machine), lesson.scene.scene),
                  style) +
        '\n' + results_text(part, results, style));
    if (stop_requested()) {
      console::complain("stopped before the end of the measurement");
      return stop_status();
    }
    console::show(paragraph(verdict_text(judge(part, results), predicted), style) + '\n');
    console::show(heading("Answer", style) + blocks_text(filled(part.answer, part, results, machine), style));
    console::show(heading("Change", style) + blocks_text(part.change, style));
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i].problem) {
        throw std::runtime_error(fmt::format("{}: {}", part.rows[i].label, results[i].problem.text));
      }
    }
    return 0;
  }

  std::optional<int> number;  // none: see `file`
  std::string file;           // file of a lesson; if empty, and without `number`: lists the lessons
  bool no_wait = false;       // does not ask for a prediction, as without a terminal
  bool cpu = false;           // measures the CPU kernels, even if there is a GPU
  bool progress = false;      // shows progress even if stderr is not a terminal
  TableFlags flags;
  DeviceOptions device;
};

}  // namespace

extern constinit const VerbInfo lesson_verb{"lesson", "teaches by measuring on this machine, in twelve lessons",
                                            create_verb<LessonVerb>};

}  // namespace orrery
