#include "app/features/lessons/lesson_results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "app/features/lessons/lesson.h"
#include "app/text/parse_value.h"
#include "app/text/table.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/threads.h"

namespace orrery {
namespace {

using QuestionKind = LessonQuestion::Kind;
using Quantity = LessonFigure::Quantity;

constexpr const char* not_measured = "(not measured)";

std::size_t index_of(const LessonPart& part, std::string_view row) {
  return static_cast<std::size_t>(std::ranges::find(part.rows, row, &LessonRow::label) - part.rows.begin());
}

/// A value with its 95 % confidence interval. If the interval is not known, `low` and `high` equal `value`.
struct Value {
  double value, low, high;
};

Value value_of(Quantity quantity, const Measurement& result) {
  const auto alone = [](double value) { return Value{value, value, value}; };
  if (quantity == Quantity::rate) return alone(result.interactions_per_s);
  if (quantity == Quantity::error) return alone(result.errors().median);
  const bool interval = std::isfinite(result.step_ms.low) && std::isfinite(result.step_ms.high);
  return interval ? Value{result.step_ms.median, result.step_ms.low, result.step_ms.high}
                  : alone(result.step_ms.median);
}

Value value_of(const LessonFigure& figure, const LessonPart& part, const LessonResults& results) {
  const Value value = value_of(figure.quantity, results[index_of(part, figure.row)]);
  if (figure.other.empty()) return value;
  const Value other = value_of(figure.quantity, results[index_of(part, figure.other)]);
  // The two values are independent, so the squares of their relative deviations add up.
  const double ratio = value.value / other.value;
  const double below = std::hypot(std::log(value.value / value.low), std::log(other.high / other.value));
  const double above = std::hypot(std::log(value.high / value.value), std::log(other.value / other.low));
  return {ratio, ratio * std::exp(-below), ratio * std::exp(above)};
}

std::string name_of(const LessonFigure& figure) {
  constexpr std::array names{"time", "rate", "error"};
  return fmt::format("{} {}{}", names[static_cast<std::size_t>(figure.quantity)], figure.row,
                     figure.other.empty() ? "" : " / " + figure.other);
}

std::string text_of(const LessonFigure& figure, const Value& value) {
  if (!std::isfinite(value.value)) return not_measured;
  if (!figure.other.empty()) return significant(value.value, 3);
  if (figure.quantity == Quantity::time) return significant(value.value, 3) + " ms";
  if (figure.quantity == Quantity::rate) return with_prefix(value.value) + " interactions/s";
  return scientific(value.value, 2);
}

/// Returns the labels of the choices if the question asks for the best row; otherwise the labels of all rows.
std::vector<std::string> candidate_rows(const LessonPart& part) {
  std::vector<std::string> rows;
  if (part.question.kind == QuestionKind::ratio) {
    for (const LessonRow& row : part.rows) rows.push_back(row.label);
  } else {
    for (const LessonChoice& choice : part.question.choices) rows.push_back(choice.row);
  }
  return rows;
}

/// Returns the rows that may be the best within their confidence intervals. Returns none if a row was not measured.
std::vector<std::string> best_rows(Quantity quantity, const LessonPart& part, const LessonResults& results) {
  const std::vector<std::string> rows = candidate_rows(part);
  std::vector<Value> values;
  for (const std::string& row : rows) values.push_back(value_of(quantity, results[index_of(part, row)]));
  const bool known = std::ranges::all_of(values, [](const Value& v) { return std::isfinite(v.value); });
  if (!known || values.empty()) return {};
  const Value best = *std::ranges::min_element(values, {}, &Value::value);
  std::vector<std::string> may_be_best;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].low <= best.high) may_be_best.push_back(rows[i]);
  }
  return may_be_best;
}

Quantity quantity_of(QuestionKind kind) {
  return kind == QuestionKind::most_accurate ? Quantity::error : Quantity::time;
}

Judgement judge_best(const LessonPart& part, const LessonResults& results) {
  const std::vector<std::string> best = best_rows(quantity_of(part.question.kind), part, results);
  Judgement judgement{.known = !best.empty(), .words = {}, .possible = {}, .right = {}};
  judgement.words = fmt::format("{}: {}", part.question.kind == QuestionKind::fastest ? "fastest" : "most accurate",
                                best.empty() ? not_measured : fmt::format("{}", fmt::join(best, " or ")));
  for (const LessonChoice& choice : part.question.choices) {
    judgement.possible.push_back(std::ranges::find(best, choice.row) != best.end());
  }
  return judgement;
}

Judgement judge_ratio(const LessonPart& part, const LessonResults& results) {
  const Value ratio = value_of(part.question.ratio, part, results);
  Judgement judgement{.known = std::isfinite(ratio.value), .words = {}, .possible = {}, .right = {}};
  judgement.words = fmt::format("{} = {}", name_of(part.question.ratio), text_of(part.question.ratio, ratio));
  if (judgement.known && ratio.low < ratio.high) {
    judgement.words += fmt::format(" ({} to {})", significant(ratio.low, 3), significant(ratio.high, 3));
  }
  for (const LessonChoice& choice : part.question.choices) {
    const bool holds = ratio.value >= choice.low && ratio.value < choice.high;
    judgement.possible.push_back(holds || (ratio.high >= choice.low && ratio.low < choice.high));
  }
  return judgement;
}

/// The parsed text of a brace.
struct Brace {
  std::optional<LessonFigure> figure;
  std::string word, row;  // only without a figure
};

Brace read_brace(std::string_view text, const std::vector<LessonRow>& rows) {
  constexpr std::array<std::string_view, 5> words{"fastest", "most accurate", "processor", "gpu", "threads"};
  if (std::ranges::find(words, text) != words.end()) return {{}, std::string{text}, {}};
  constexpr std::string_view chosen = "chosen ";
  if (text.starts_with(chosen)) {
    return {{}, "chosen", parse_figure("time " + std::string{text.substr(chosen.size())}, rows).row};
  }
  try {
    return {parse_figure(text, rows), {}, {}};
  } catch (const UsageError& error) {
    throw UsageError(
        fmt::format("{{{}}} is no figure: {}; figures: {{time ROW}}, {{rate ROW}}, {{error ROW}}, their "
                    "ratios such as {{time ROW / ROW}}, {{chosen ROW}}, {{{}}}",
                    text, error.what(), fmt::join(words, "}, {")));
  }
}

std::string text_of(const Brace& brace, const LessonPart& part, const LessonResults& results,
                    const LessonMachine& machine) {
  if (brace.figure) return text_of(*brace.figure, value_of(*brace.figure, part, results));
  if (brace.word == "processor") return machine.processor;
  if (brace.word == "gpu") return machine.gpu.empty() ? "no GPU" : machine.gpu;
  if (brace.word == "threads") return std::to_string(machine.threads);
  if (brace.word == "chosen") {
    const std::string& chosen = results[index_of(part, brace.row)].chosen;
    return chosen.empty() ? not_measured : chosen;
  }
  const QuestionKind kind = brace.word == "fastest" ? QuestionKind::fastest : QuestionKind::most_accurate;
  const std::vector<std::string> best = best_rows(quantity_of(kind), part, results);
  return best.empty() ? not_measured : fmt::format("{}", fmt::join(best, " or "));
}

/// Replaces each {text} by replace(text). Throws UsageError if a brace has no end.
template <class Replace>
std::string with_braces(std::string_view text, Replace replace) {
  std::string result;
  for (;;) {
    const std::size_t begin = std::min(text.find('{'), text.size());
    result += text.substr(0, begin);
    if (begin == text.size()) return result;
    const std::size_t end = text.find_first_of("{}", begin + 1);
    if (end == std::string_view::npos || text[end] == '{')
      throw UsageError("a figure that begins with '{' must end with '}'");
    result += replace(trimmed(text.substr(begin + 1, end - begin - 1)));
    text.remove_prefix(end + 1);
  }
}

/// Calls change(text) for each text in the block. Skips code.
template <class Change>
void for_each_text(TextBlock& block, Change change) {
  if (block.kind == TextBlock::Kind::code) return;
  change(block.text);
  for (std::vector<std::string>& row : block.rows) {
    for (std::string& cell : row) change(cell);
  }
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Returns the first number with a unit of speed or error; empty if there is none.
std::string figure_in(std::string_view text) {
  constexpr std::array<std::string_view, 9> units{"ms", "us", "times", "%", "G", "T", "G/s", "T/s", "x"};
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_digit(text[at]) ||
        (at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) || text[at - 1] == '.')))
      continue;
    std::size_t end = at;
    while (end < text.size() && (is_digit(text[end]) || text[end] == '.' || text[end] == ',')) ++end;
    std::string_view rest = trimmed(text.substr(end));
    const std::size_t stop = std::min(rest.find_first_of(" ,.;:()"), rest.size());
    if (std::ranges::find(units, rest.substr(0, stop)) != units.end()) {
      return fmt::format("{} {}", text.substr(at, end - at), rest.substr(0, stop));
    }
  }
  return {};
}

void refuse_unsourced(std::string_view text) {
  const std::string figure = figure_in(text);
  const auto says = [&](const char* word) { return text.find(word) != std::string_view::npos; };
  if (figure.empty() || says("row ") || says("rows ") || says("source") || says("](")) return;
  throw UsageError(
      fmt::format("'{}' is not measured here, and its source is not stated: write a figure such as "
                  "{{time ROW / ROW}}, or name the source beside it: 'row N', 'source' or a link",
                  figure));
}

void refuse_unmeasured_here(const TextBlock& table) {
  for (std::size_t column = 0; column < table.rows.front().size(); ++column) {
    if (!table.rows.front()[column].starts_with("here")) continue;
    for (std::size_t row = 1; row < table.rows.size(); ++row) {
      const std::string words = with_braces(table.rows[row][column], [](std::string_view) { return ""; });
      if (std::ranges::any_of(words, is_digit)) {
        throw UsageError(fmt::format("the column 'here' is for what is measured here; '{}' holds another number",
                                     table.rows[row][column]));
      }
    }
  }
}

std::string joined_cells(const std::vector<std::string>& row) {
  return joined(row, [](const std::string& cell) { return with_braces(cell, [](std::string_view) { return "?"; }); });
}

}  // namespace

Judgement judge(const LessonPart& part, const LessonResults& results) {
  Judgement judgement =
      part.question.kind == QuestionKind::ratio ? judge_ratio(part, results) : judge_best(part, results);
  const bool decided = judgement.known && std::ranges::count(judgement.possible, true) == 1;
  judgement.right = decided ? judgement.possible : std::vector<bool>(judgement.possible.size());
  return judgement;
}

std::string verdict(const Judgement& judgement) {
  if (!judgement.known) return judgement.words + ": the question stays open.";
  std::vector<std::string> letters;
  for (std::size_t i = 0; i < judgement.possible.size(); ++i) {
    if (judgement.possible[i]) letters.emplace_back(1, letter_of(i));
  }
  if (judgement.decided()) return fmt::format("{}. So {} is right.", judgement.words, letters.front());
  if (letters.empty()) return judgement.words + ". Not decided on this machine: none of the choices fits.";
  const std::string last = letters.back();
  letters.pop_back();
  return fmt::format("{}. Not decided on this machine: the measurement cannot tell {} and {} apart.", judgement.words,
                     fmt::join(letters, ", "), last);
}

TextBlocks filled(const TextBlocks& blocks, const LessonPart& part, const LessonResults& results,
                  const LessonMachine& machine) {
  TextBlocks copy = blocks;
  for (TextBlock& block : copy) {
    for_each_text(block, [&](std::string& text) {
      text = with_braces(
          text, [&](std::string_view brace) { return text_of(read_brace(brace, part.rows), part, results, machine); });
    });
  }
  return copy;
}

void check_braces(const TextBlocks& blocks, const std::string& name, const LessonPart& part) {
  for (TextBlock block : blocks) {
    at_line(name, block.line, [&] {
      for_each_text(block, [&](const std::string& text) {
        (void)with_braces(text, [&](std::string_view brace) {
          (void)read_brace(brace, part.rows);
          return "";
        });
      });
    });
  }
}

void check_sources(const TextBlocks& blocks, const std::string& name) {
  for (const TextBlock& block : blocks) {
    at_line(name, block.line, [&] {
      if (block.kind == TextBlock::Kind::code) return;
      if (block.kind != TextBlock::Kind::table) return refuse_unsourced(joined_cells({block.text}));
      refuse_unmeasured_here(block);
      for (const std::vector<std::string>& row : block.rows) refuse_unsourced(joined_cells(row));
    });
  }
}

namespace {

/// Returns the row's kernel with its settings. Throws if the kernel cannot run here.
Variant variant_of(const Backends& backends, const LessonRow& row) {
  const KernelPtr kernel = backends.kernels().find(row.kernel_id);
  (void)expand(backends, {.kernels = {kernel}}, {});
  return {kernel, Settings{*kernel, row.settings}};
}

}  // namespace

LessonMeasurement::LessonMeasurement(const Backends& backends, const Lesson& lesson, const LessonPart& part)
    : backends_{backends}, results_(part.rows.size()) {
  for (std::size_t i = 0; i < part.rows.size(); ++i) {
    const int count = part.rows[i].count;
    auto group = std::ranges::find_if(groups_, [&](const Group& g) { return g.plan.counts.front() == count; });
    if (group == groups_.end()) {
      SweepPlan plan{
          .scene = lesson.scene, .counts = {count}, .variants = {}, .setup = lesson.physics, .sampling = sampling};
      group = groups_.insert(groups_.end(), {.rows = {}, .plan = std::move(plan)});
    }
    group->rows.push_back(i);
    group->plan.variants.push_back(variant_of(backends, part.rows[i]));
  }
  begin_group();
}

void LessonMeasurement::begin_group() {
  sweep_.reset();
  if (group_ < groups_.size()) sweep_.emplace(backends_, groups_[group_].plan);
}

bool LessonMeasurement::tick() {
  if (ended()) return false;
  const bool in_flight = sweep_->tick();
  take_results();
  if (sweep_->ended()) {
    done_ += groups_[group_++].rows.size();
    begin_group();
  }
  return in_flight;
}

void LessonMeasurement::stop() {
  if (ended()) return;
  sweep_->stop();
  take_results();
  done_ += sweep_->entries().size();
  sweep_.reset();
}

void LessonMeasurement::take_results() {
  const std::vector<Measurement>& entries = sweep_->entries();
  for (std::size_t i = 0; i < entries.size(); ++i) results_[groups_[group_].rows[i]] = entries[i];
}

double LessonMeasurement::left_s() const {
  if (ended()) return 0;
  double left = sweep_->left_s();
  for (std::size_t group = group_ + 1; group < groups_.size(); ++group) {
    left += Sweep{backends_, groups_[group].plan}.left_s();
  }
  return left;
}

LessonMachine lesson_machine(const Backends& backends) {
  return {.processor = backends.status(Backend::cpu).device,
          .gpu = backends.status(Backend::cuda).device,
          .threads = usable_threads()};
}

}  // namespace orrery
