#include "app/features/lessons/lesson.h"
#include "app/features/lessons/lesson_results.h"
#include "tests/fuzz/input.h"

int fuzz_lesson(const std::uint8_t* data, std::size_t size) {
  static const orrery::KernelCatalog kernels;
  const orrery::fuzz::InputFile file{data, size};
  return orrery::fuzz::accept_refusals([&] {
    const orrery::Lesson lesson = orrery::read_lesson(file.path(), kernels);
    for (const orrery::LessonPart* part : {&lesson.part(false), &lesson.part(true)}) {
      const orrery::LessonResults results(part->rows.size());
      (void)orrery::filled(part->answer, *part, results, {});
      (void)orrery::judge(*part, results);
    }
  });
}
