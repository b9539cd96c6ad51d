#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "app/ui_state/picture_options.h"

namespace orrery {

/// Stands for a number that was not measured.
inline constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

struct ReportFact {
  std::string name, value;
};

using ReportFacts = std::vector<ReportFact>;

/// A measured variant. Every number may be not_measured.
struct ReportRow {
  std::string kernel, settings{};  ///< settings: as far as the rows differ
  bool on_gpu = false;
  std::string how{};  ///< it was measured: "sweep" or "view"; empty: all rows in the same way
  std::string rank{};
  std::string speedup{};            ///< over the pinned result: "2.1\u00d7", or "baseline"; empty: there is none
  double median_ms = not_measured;  ///< of one step
  double low_ms = not_measured, high_ms = not_measured;  ///< the 95 % interval of the median
  double interactions_per_s = not_measured;
  double error_median = not_measured, error_p99 = not_measured, error_max = not_measured;

  std::string name() const { return settings.empty() ? kernel : kernel + ' ' + settings; }
};

/// Rows that can be compared: the same bodies, law and integrator.
struct ReportGroup {
  std::string title;  ///< "collision, 16,384 bodies"
  std::vector<ReportRow> rows{};
};

/// Something that changed while the window ran.
struct ReportCurve {
  std::string title, words;  ///< the words: a sentence that says what the plot shows
  std::string across, up;    ///< titles of the axes, with their units
  std::vector<std::pair<double, double>> points{};
  std::string missing;  ///< why there is nothing to draw, one sentence
};

/// A variant that was to be measured, and was not.
struct ReportGap {
  std::string variant, reason;
};

struct ReportCommand {
  std::string words, line;  ///< a sentence, and a line for a shell
};

/// Everything that is on a page. No text is HTML.
struct ReportContent {
  std::string title;
  std::string made;      ///< when and with what: one line
  std::string remark{};  ///< what the reader must know before the results; empty: nothing
  ReportPicture picture;
  std::vector<ReportGroup> groups{};
  std::string how{};  ///< the rows were measured: sentences
  std::vector<ReportGap> gaps{};
  std::vector<ReportCurve> curves{};
  ReportFacts settings{}, machine{};
  std::vector<ReportCommand> commands{};
};

/// A page for people as one HTML file that needs no other file and no network. It is also well-formed XML.
std::string report_page(const ReportContent& content);

}  // namespace orrery
