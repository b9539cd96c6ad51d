#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/lab/measurement.h"
#include "app/lab/variants.h"
#include "app/text/plot.h"
#include "app/ui_state/picture_options.h"

namespace orrery {

struct Status;
struct ViewStatus;

struct ReportFact {
  std::string name, value;
};

using ReportFacts = std::vector<ReportFact>;

/// A measured variant on the page.
struct ReportRow : Measurement {
  std::string shown_settings{};  ///< only the settings in which the rows differ
  bool on_gpu = false;
  std::string how{};      ///< "sweep" or "view": how the row was measured; empty: all rows in the same way
  std::string speedup{};  ///< relative to the pinned result: "2.1\u00d7", or "baseline"; empty: no pinned result

  std::string name() const {
    const std::string kernel = kernel_words(*this);
    return shown_settings.empty() ? kernel : kernel + ' ' + shown_settings;
  }
};

/// Rows with the same bodies, law and integrator, so that they can be compared.
struct ReportGroup {
  std::string title;  ///< "collision, 16,384 bodies"
  std::vector<ReportRow> rows{};
  bool ranked = false;  ///< the page shows the ranks
};

/// A quantity that changed while the window ran.
struct ReportCurve {
  std::string title, words;  ///< words: a sentence that describes the plot
  Plot plot;                 ///< has one line; its axes are not fitted yet
  std::string missing;       ///< one sentence: why there is nothing to draw
};

struct ReportCommand {
  std::string words, line;  ///< words: a sentence; line: a shell command
};

/// Everything on a page. No text is HTML.
struct ReportContent {
  std::string title;
  std::string made;      ///< one line: date, program and machine
  std::string remark{};  ///< shown before the results; empty: nothing
  ReportPicture picture;
  std::vector<ReportGroup> groups{};
  std::string how{};                    ///< sentences: how the rows were measured
  std::vector<SkippedTogether> gaps{};  ///< planned variants that were not measured
  std::vector<ReportCurve> curves{};
  ReportFacts settings{}, machine{};
  std::vector<ReportCommand> commands{};
};

/// Returns the report as one HTML file, which needs no other file and no network. It is also well-formed XML.
std::string report_page(const ReportContent& content);

/// Returns the content of a page about the window's run, without the date, the machine and the picture.
ReportContent window_content(const Status& status, const ViewStatus& view);

}  // namespace orrery
