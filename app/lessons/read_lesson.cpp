#include "app/lessons/read_lesson.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

#include "app/lessons/lesson_blocks.h"
#include "app/lessons/lesson_results.h"
#include "app/text/input_file.h"
#include "compute/core/error.h"
#include "compute/core/names.h"

namespace orrery {
namespace {

constexpr const char* for_gpu = "With a GPU";
constexpr const char* for_cpu = "Without a GPU";

enum PartIndex : std::size_t { scene_part, predict_part, measure_part, answer_part, change_part, part_count };
constexpr std::array<std::string_view, part_count> part_titles{"Scene", "Predict", "Measure", "Answer", "Change"};
/// The block between ``` that a part holds; empty: none.
constexpr std::array<std::string_view, part_count> part_tags{"window", "predict", "measure", "", ""};

[[noreturn]] void refuse(const std::string& name, int line, const std::string& what) {
  throw UsageError(fmt::format("{}:{}: {}", name, line, what));
}

/// A part with the blocks that are for both kinds of machine and for one of them.
struct PartText {
  int line = 0;  // 0: not there
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

/// The sections after the title.
PartTexts parts_of(std::vector<TextSection>& sections, const std::string& name) {
  PartTexts parts;
  int present = -1;  // index of the present part
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

/// Takes the block that the lesson is run by out of the blocks of a part.
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

}  // namespace orrery
