#include "app/viewer/run_summary.h"

#include <fmt/format.h>

#include "app/text/table.h"
#include "app/viewer/step_statistics.h"
#include "compute/core/format_count.h"

namespace orrery {
namespace {

constexpr const char* no_measurement = "not measured";

std::string kernel_text(const Status& status) {
  if (status.auto_choice) return status.auto_choice->name;
  const std::string changes = status.settings.changes();
  return status.kernel_id + (changes.empty() ? "" : " ") + changes;
}

/// Leapfrog's first step has one evaluation more and is in no median.
std::string step_text(const ViewStatus& view) {
  if (view.measured == 0) return no_measurement;
  return fmt::format("{}, the median of {} with steps", milliseconds(view.step_ms_median),
                     counted(view.measured, "frame"));
}

std::string rate_text(const Status& status, const ViewStatus& view) {
  const double interactions = step_work(status).interactions;
  if (view.measured == 0 || !(interactions > 0) || !(view.step_ms_median > 0)) return no_measurement;
  return with_prefix(interactions / (view.step_ms_median * 1e-3));
}

std::string error_text(const Status& status) {
  if (!status.force_probe) return no_measurement;
  const ForceProbe& probe = *status.force_probe;
  return fmt::format("median {}, maximum {} against double precision, of {} at step {}",
                     significant(probe.error.median, 2), significant(probe.error.max, 2), counted_bodies(probe.sample),
                     format_count(probe.step));
}

}  // namespace

std::string run_summary(const Status& status, const ViewStatus& view, const TextStyle& style) {
  Table table{"lt", {"", ""}};
  table.add({"kernel", kernel_text(status)});
  table.add({"bodies",
             fmt::format("{} ({}, {})", format_count(status.count), status.scene_name, law_info(status.law.id).id)});
  table.add({"steps", format_count(status.step)});
  table.add({"step", step_text(view)});
  table.add({"interactions/s", rate_text(status, view)});
  table.add({"force error", error_text(status)});
  return table.text(style);
}

}  // namespace orrery
