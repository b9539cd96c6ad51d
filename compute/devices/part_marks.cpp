#include "compute/devices/part_marks.h"

namespace orrery {

double begin_after(const MarkTimes& leader, const MarkTimes& device, bool exchanges) {
  return exchanges ? leader[PartMark::all_offered] - device[PartMark::all_offered] : leader[PartMark::shared];
}

std::vector<DeviceSpan> spans_of(const MarkTimes& times, bool leads, bool exchanges, double begin_ms) {
  std::vector<DeviceSpan> spans;
  const auto add = [&](const char* name, bool communicates, PartMark begin, PartMark end) {
    if (times[end] > times[begin])
      spans.push_back({name, communicates, begin_ms + times[begin], begin_ms + times[end]});
  };
  if (leads) add("hand out", false, PartMark::begins, PartMark::shared);
  add("bodies", true, leads ? PartMark::shared : PartMark::begins, PartMark::part_begins);
  if (exchanges) {
    add("tree", false, PartMark::part_begins, PartMark::offered);
    add("cells", true, PartMark::all_offered, PartMark::all_came);
    add("walk", false, PartMark::all_came, PartMark::part_ends);
  } else {
    add("forces", false, PartMark::part_begins, PartMark::part_ends);
  }
  return spans;
}

}  // namespace orrery
