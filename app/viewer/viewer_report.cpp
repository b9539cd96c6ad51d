// How the viewer makes pages: a part of Viewer.
#include <fmt/format.h>

#include <utility>

#include "app/lab/metadata.h"
#include "app/report/machine_report.h"
#include "app/report/page.h"
#include "app/report/run_facts.h"
#include "app/viewer/viewer.h"
#include "app/viewer/window_report.h"
#include "compute/core/atomic_file.h"
#include "compute/core/stop_signal.h"

namespace orrery {

ReportPicture Viewer::picture() {
  while (!finished()) frame();
  if (stop_requested()) return {.words = "There is no picture: the program was interrupted."};
  return report_picture();
}

/// Of the view as it is, with the legend and without the panels. The frame is drawn again as it was.
ReportPicture Viewer::report_picture() {
  const render::Canvas canvas = rescue_.outside([this] { return surface_->canvas(); });
  if (canvas.width < 1 || canvas.height < 1) return {.words = "There is no picture: the window has no area."};
  struct WithoutPanels {
    Viewer& viewer;
    const ViewStatus view{viewer.view_};
    const PanelState panels{viewer.panel_state_};
    const Requests requests{viewer.requests_};
    explicit WithoutPanels(Viewer& shown) : viewer{shown} {
      viewer.view_.panel = viewer.view_.help = false;
      viewer.view_.legend_shown = true;
      viewer.view_.notice.clear();
      viewer.view_.quit_question.clear();
    }
    WithoutPanels(const WithoutPanels&) = delete;
    WithoutPanels& operator=(const WithoutPanels&) = delete;
    ~WithoutPanels() {
      viewer.view_ = view;
      viewer.panel_state_ = panels;
      viewer.requests_ = requests;
    }
  };
  ReportPicture picture;
  {
    const WithoutPanels without_panels{*this};
    settle();
    const render::Image image = rescue_.outside([this] { return picture_of_window(); });
    picture = {.png = render::encode_png(image, description().dump(-1, ' ', true)),
               .words = picture_words(lane_.status(), view_)};
  }
  redraw();
  return picture;
}

void Viewer::save_report(const std::string& asked) {
  const Output to = output(asked, "report.html");
  const render::GlInfo& opengl = surface_->gl();
  const GlReport gl{.renderer = opengl.renderer,
                    .version = opengl.version,
                    .same_gpu = sharing_.same_gpu,
                    .interop = to_string(view_.interop),
                    .interop_reason = view_.interop_reason};
  ReportContent content = window_content(lane_.status(), view_);
  content.made = made_words(machine_metadata(backends_));
  content.machine = machine_report(backends_, gl, facts_.peak_rates()).facts;
  content.picture = report_picture();
  say_written(write_file(to.file, report_page(content), to.existing));
  exported_results_ = tried_by_hand();  // the page has them all
}

void Viewer::carry_out(const SaveReport& c) {
  pictures_wanted_.push_back({[this, c] { save_report(c.file); }});
}

}  // namespace orrery
