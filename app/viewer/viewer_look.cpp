// How the viewer changes what is drawn: a part of Viewer.
#include <utility>

#include "app/runs/scene_notes.h"
#include "app/viewer/scene_view.h"
#include "app/viewer/viewer.h"

namespace orrery {

void Viewer::carry_out(const SetAppearance& c) {
  check_colour_range(c.appearance);
  set_appearance(c.appearance);
  appearance_chosen_ = true;
}
void Viewer::carry_out(const SetTheme& c) {
  view_.appearance.theme = c.theme;
  gui_.set_theme(c.theme == render::Theme::light ? theme::Tone::light : theme::Tone::dark);
}
void Viewer::carry_out(const ShowTrails& c) {
  view_.overlays.trails = c;
}
void Viewer::carry_out(const ShowVectors& c) {
  view_.overlays.vectors = c;
}
void Viewer::carry_out(const ShowTreeCells& c) {
  view_.overlays.cells = c;
  if (c.on && !lane_.status().kernel->is_tree) view_.notice = "no cells are drawn: the kernel has no tree";
}
void Viewer::carry_out(const ShowWalk& c) {
  view_.overlays.walk = c;
  if (!c.on) return;
  if (!lane_.status().kernel->is_tree) view_.notice = "no walk is drawn: the kernel has no tree";
  if (!view_.picked) view_.notice = "the walk is drawn once a body is picked";
}
void Viewer::carry_out(const ShowAxes& c) {
  view_.overlays.axes = c;
}
void Viewer::carry_out(const ShowLegend& c) {
  view_.legend_shown = c.on;
}

void Viewer::follow_scene() {
  const SceneRequest& scene = lane_.status().scene;
  const std::string& name = scene.file.empty() ? scene.scene : scene.file;
  if (shown_scene_ == name) return;
  shown_scene_ = name;
  const SceneView view = scene_view(scene);
  camera_.home(view.azimuth, view.elevation);
  camera_.look_from(view.azimuth, view.elevation);
  if (!appearance_chosen_) set_appearance(view.appearance);
  if (!pace_chosen_ && lane_.status().steps_per_frame != view.steps_per_frame) {
    lane_.simulation().apply(SetStepsPerFrame{view.steps_per_frame});
  }
  if (film_) film_->hide_progress();  // which the notes would run into
  if (std::string notes = print_scene_notes(lane_.simulation()); !notes.empty()) view_.notice = std::move(notes);
}

void Viewer::set_appearance(render::Appearance appearance) {
  appearance.theme = view_.appearance.theme;
  view_.appearance = appearance;
}

}  // namespace orrery
