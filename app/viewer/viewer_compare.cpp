// How the viewer compares two runs: a part of Viewer.
#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "app/viewer/legend.h"
#include "app/viewer/viewer.h"
#include "compute/core/error.h"
#include "compute/core/failure_text.h"
#include "compute/core/stop_signal.h"
#include "render/colour_map.h"

namespace orrery {
namespace {

void forget_all_but_layout(CompareStatus& compare) {
  const CompareLayout layout = compare.layout;
  compare = {};
  compare.layout = layout;
}

}  // namespace

void Viewer::carry_out(const CompareWith& c) {
  if (!c.kernel) {
    second_.end(lane_);
    forget_all_but_layout(view_.compare);
    leave_distances();
    return;
  }
  refuse_beside_measurement();
  if (lane_.log().recording()) throw UsageError("a recording describes one run; stop it before you compare two");
  forget_all_but_layout(view_.compare);
  second_.begin(lane_, c);
}

/// There is no B any more, from which colours could show the distance.
void Viewer::leave_distances() {
  render::Appearance appearance = view_.appearance;
  if (appearance.colour_by != render::ColourBy::distance) return;
  appearance.colour_by = render::Appearance{}.colour_by;
  appearance.low.reset();
  appearance.high.reset();
  carry_out(SetAppearance{appearance});
}

void Viewer::carry_out(const SetCompareLayout& c) {
  view_.compare.layout = c.layout;
}

void Viewer::refuse_while_comparing(const std::string& what) const {
  if (!second_.active()) return;
  throw UsageError(fmt::format("{}; end the comparison first ({})", what, way_to_end(comparison_user)));
}

/// Pauses, so that the state can be looked at.
void Viewer::end_comparison(const std::string& why) {
  carry_out(CompareWith{});
  if (lockstep_) throw std::runtime_error(why);
  lane_.simulation().apply(SetPaused{true});
  complain(why);
}

bool Viewer::second_lane_allows_steps(std::int64_t frame) {
  if (!second_.active()) return true;
  try {
    second_.follow(lane_);
    if (!second_.in_step(lane_)) {
      const bool idle = lane_.simulation().idle() && second_.lane().simulation().idle();
      if (!idle) return false;
      if (second_.behind(lane_)) {
        if (!lockstep_) second_.advance(lane_, frame, path_clock_s(), view_);
        return lockstep_;
      }
    }
    second_.ask_for_energies(lane_);
    if (!lockstep_ && lane_.status().paused && second_.in_step(lane_))
      second_.advance(lane_, frame, path_clock_s(), view_);
  } catch (const std::exception& error) {
    end_comparison(fmt::format("the comparison ends: {}", failure_text(error)));
    return false;
  }
  return true;
}

bool Viewer::catch_up() {
  if (!second_.active()) return true;
  second_.advance(lane_, frame_, path_clock_s(), view_);
  return wait_for_steps(second_.lane());
}

void Viewer::follow_comparison() {
  if (!second_.active()) return;
  second_.take(lane_);
  leave_hanging_kernel();  // to end B would wait for it
  if (const std::string why = second_.problem(); !why.empty()) end_comparison(why);
}

void Viewer::set_stage(const render::Canvas& canvas, glm::vec3 covered) {
  stage_ = {whole_stage(canvas, covered), whole_stage(canvas, covered)};
  CompareStatus& compare = view_.compare;
  if (!second_.active() || compare.layout != CompareLayout::side) return;
  stage_ = split_stage(canvas, covered);
  compare.left = covered.x;
  compare.split = static_cast<float>(stage_[1].canvas.left) / static_cast<float>(canvas.width);
}

BodyPicker::Scene Viewer::picker_scene(Lane& lane, const StagePart& part) const {
  return {lane.drawn(),   lane.drawn_time(), lane.history(),           view_.appearance,
          lane_.ranges(), part.canvas,       lane.simulation().parts()};
}

render::OrbitCamera Viewer::second_camera(const render::OrbitCamera& camera) const {
  render::OrbitCamera second = camera;
  second.fit_into(stage_[1].share, stage_[1].middle);
  return second;
}

/// With the colours of A for both, so that they can be compared.
void Viewer::draw_both(const render::OrbitCamera& camera) {
  if (view_.compare.layout == CompareLayout::over) return draw_over(camera);
  Lane& b = second_.lane();
  const render::OrbitCamera second = second_camera(camera);
  ViewStatus& view = second_.view();
  view.appearance = view_.appearance;
  view.overlays = view_.overlays;
  view.picked = view_.picked;
  b.prepare_overlays(second, stage_[1].canvas, view);
  const auto place_labels = [](std::vector<PictureLabel>& labels, const StagePart& part) {
    for (PictureLabel& label : labels) {
      const glm::vec2 place = part.to_window({label.place[0], label.place[1]});
      label.place = {place.x, place.y};
    }
  };
  place_labels(view_.labels, stage_[0]);
  place_labels(view.labels, stage_[1]);
  view_.labels.insert(view_.labels.end(), view.labels.begin(), view.labels.end());
  const bool a_moved = lane_.take_moved(), b_moved = b.take_moved();
  lane_.draw(frame_, camera, view_.appearance, stage_[0].canvas, lane_.drawn(), lane_.ranges(), a_moved);
  b.draw(frame_, second, view_.appearance, stage_[1].canvas, b.drawn(), lane_.ranges(), a_moved || b_moved);
}

void Viewer::draw_over(const render::OrbitCamera& camera) {
  render::Appearance appearance = view_.appearance;
  appearance.look = render::Look::lights;
  appearance.colour_by = render::ColourBy::species;
  const bool a_moved = lane_.take_moved(), b_moved = second_.lane().take_moved();
  lane_.draw(frame_, camera, appearance, stage_[0].canvas, second_.both(lane_), lane_.ranges(), a_moved || b_moved);
  Legend& legend = view_.legend;
  legend.quantity = "run";
  legend.colours.clear();
  legend.parts.clear();
  legend.known.reset();
  legend.note.clear();
  const auto colours = render::part_colours(appearance.theme);
  for (const std::size_t which : {0, 1}) {
    const glm::vec3 colour = colours[which];
    legend.parts.push_back({fmt::format("{}: {}", which == 0 ? "A" : "B", view_.compare.runs[which].name),
                            {colour.r, colour.g, colour.b}});
  }
}

}  // namespace orrery
