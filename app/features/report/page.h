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

/// A measured variant, as the page shows it.
struct ReportRow : Measurement {
  std::string shown_settings{};  ///< as far as the rows differ
  bool on_gpu = false;
  std::string how{};      ///< it was measured: "sweep" or "view"; empty: all rows in the same way
  std::string speedup{};  ///< over the pinned result: "2.1\u00d7", or "baseline"; empty: there is none

  std::string name() const {
    const std::string kernel = kernel_words(*this);
    return shown_settings.empty() ? kernel : kernel + ' ' + shown_settings;
  }
};

/// Rows that can be compared: the same bodies, law and integrator.
struct ReportGroup {
  std::string title;  ///< "collision, 16,384 bodies"
  std::vector<ReportRow> rows{};
  bool ranked = false;  ///< the ranks are shown
};

/// Something that changed while the window ran.
struct ReportCurve {
  std::string title, words;  ///< the words: a sentence that says what the plot shows
  Plot plot;                 ///< one line, without ranges
  std::string missing;       ///< why there is nothing to draw, one sentence
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
  std::string how{};                    ///< the rows were measured: sentences
  std::vector<SkippedTogether> gaps{};  ///< variants that were to be measured, and were not
  std::vector<ReportCurve> curves{};
  ReportFacts settings{}, machine{};
  std::vector<ReportCommand> commands{};
};

/// A page for people as one HTML file that needs no other file and no network. It is also well-formed XML.
std::string report_page(const ReportContent& content);

/// Returns the content of a page about the window's run, without the date, the machine and the picture.
ReportContent window_content(const Status& status, const ViewStatus& view);

}  // namespace orrery
