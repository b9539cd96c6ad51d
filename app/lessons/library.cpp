#include "app/lessons/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "app/lessons/read_lesson.h"
#include "app/text/lines.h"
#include "compute/core/error.h"
#include "render/gl/embedded.h"

namespace orrery {
namespace render {
std::span<const EmbeddedFile> embedded_lessons();
}

std::string LessonFile::title() const {
  std::string_view rest = text;
  const std::string_view line = take_line(rest);
  return std::string{trimmed(line.substr(std::min(line.find_first_not_of('#'), line.size())))};
}

const std::vector<LessonFile>& lesson_files() {
  static const std::vector<LessonFile> files = [] {
    std::vector<LessonFile> all;
    for (const render::EmbeddedFile& file : render::embedded_lessons()) {
      int number = 0;
      std::from_chars(file.name.data(), file.name.data() + file.name.size(), number);
      all.push_back({number, file.name, file.bytes});
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
