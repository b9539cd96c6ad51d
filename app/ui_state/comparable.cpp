#include "app/ui_state/comparable.h"

namespace orrery {
namespace {

void add_difference(std::string& list, bool differs, const char* words) {
  if (differs) list += (list.empty() ? "" : ", ") + std::string{words};
}

/// Returns the reasons why the rows are not comparable(); empty if they are.
std::string differences(const Result& row, const Result& pinned) {
  std::string list;
  const bool other_scene = row.scene.scene != pinned.scene.scene || row.scene.file != pinned.scene.file;
  add_difference(list, other_scene, "the scene is another one");
  add_difference(list, row.count != pinned.count, "the number of bodies is another one");
  add_difference(list, row.law != pinned.law, "the law is another one");
  add_difference(list, list.empty() && row.scene != pinned.scene, "the bodies of the scene are others");
  add_difference(list, row.swept != pinned.swept, "one was measured by a sweep and the other was not");
  const std::optional<int> accuracy = accuracy_class(row.error), wanted = accuracy_class(pinned.error);
  add_difference(list, !accuracy, "its error is not known");
  add_difference(list, !wanted, "the error of the pinned row is not known");
  add_difference(list, accuracy && wanted && accuracy != wanted, "the median error is in another decade");
  return list;
}

}  // namespace

std::string why_no_speedup(std::span<const Result> results, std::size_t row) {
  const Result& result = results[row];
  if (result.speedup) return {};
  const Result* nearest = nullptr;
  for (const Result& other : results) {
    if (other.pinned && (!nearest || same_subject(other, result))) nearest = &other;
  }
  return nearest ? "No speed-up over the pinned row: " + differences(result, *nearest) + "." : "";
}

}  // namespace orrery
