#include <imgui.h>

#include <ranges>
#include <string_view>

#include "app/panels/sections.h"
#include "app/panels/ui_mark.h"
#include "app/panels/widgets.h"
#include "compute/core/force_law.h"
#include "compute/integrators/integrator.h"

namespace orrery {
namespace {

/// A combo over descriptors with id, title and notes. The descriptor that was picked, if another than the current one.
template <class Info>
const Info* choose(const char* name, const char* notes, const char* mark, std::string_view current, auto&& infos) {
  const Info* picked = nullptr;
  const Info* shown = nullptr;
  for (const Info& info : infos) {
    if (current == info.id) shown = &info;
  }
  row_label(name, notes);
  if (begin_combo(mark, shown ? shown->title : "")) {
    for (const Info& info : infos) {
      if (ImGui::Selectable(info.title, &info == shown) && &info != shown) picked = &info;
      ui_mark(mark, info.id);
      tooltip(info.notes);
    }
    ImGui::EndCombo();
  } else if (shown) {
    tooltip(shown->notes);
  }
  return picked;
}

}  // namespace

void physics_panel(const Status& status, const ViewStatus&, Requests& out) {
  if (!section("physics", "Physics", true)) return;
  const Law& law = status.law;
  const auto known =
      integrators() | std::views::transform([](const IntegratorInfo* info) -> const IntegratorInfo& { return *info; });
  if (const auto* picked = choose<IntegratorInfo>("Integrator", "How a step is made from force evaluations.",
                                                  "integrator", status.integrator_id, known)) {
    out.push_back(SelectIntegrator{picked->id});
  }
  if (const auto* picked =
          choose<LawInfo>("Law", "The force between two bodies.", "law", law_info(law.id).id, laws())) {
    out.push_back(SelectLaw{picked->id});
  }
  row_label("Time step", "dt of one step, in units of G = 1. Ctrl-click to type a value.");
  if (const auto dt = log_slider("dt", status.time_step, 1e-5f, 0.1f, "%.5g")) out.push_back(SetTimeStep{*dt});
  row_label("Softening", "\u03b5, a length: forces stop growing below it. Ctrl-click to type a value.");
  if (const auto softening = log_slider("softening", law.softening, 1e-4f, 1.0f, "%.4g")) {
    out.push_back(SetSoftening{*softening});
  }
  if (law.id == LawId::attract_repel) {
    row_label("Repulsion", "H, a length squared: the strength of the repelling part. Ctrl-click to type a value.");
    if (const auto repulsion = log_slider("repulsion", law.repulsion, 0.0f, 1.0f, "%.5g")) {
      out.push_back(SetRepulsion{*repulsion});
    }
    row_label("Drag", "D, mass per time: slows bodies down. Ctrl-click to type a value.");
    if (const auto drag = log_slider("drag", law.drag, 0.0f, 0.01f, "%.7g")) out.push_back(SetDrag{*drag});
  }
  row_label("Steps/frame", "Steps that run for each picture. Ctrl-click to type a value.");
  if (const auto steps = log_slider("steps-per-frame", status.steps_per_frame, 1, 1000, "%d")) {
    out.push_back(SetStepsPerFrame{*steps});
  }
}

}  // namespace orrery
