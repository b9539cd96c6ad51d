#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "app/lab/profile/kernel_profile.h"
#include "app/panels/kit/format.h"
#include "app/panels/kit/ui_mark.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/profile_parts.h"
#include "app/panels/sections.h"

namespace orrery {
namespace {

using theme::em;

constexpr const char* what_of_gpu =
    "A profile shows what the warps of a kernel wait for, and how near it comes to the limits of the GPU.";
constexpr const char* what_of_cpu =
    "A profile shows the vector width and the threads of a kernel, and how near it comes to the processor's FMA limit.";

std::string row_name(std::size_t row, const KernelProfile& profile) {
  return fmt::format("{}: {}, {}", row + 1, profile.label(), counted_bodies(profile.count));
}

void profile_button(const Status& status, const ViewStatus& view, Requests& out) {
  ImGui::BeginDisabled(view.profile.active || status.choosing || view.measuring());
  if (accent_button(view.profile.active ? "Profiling ...###profile" : "Profile###profile", {em(7), 0})) {
    out.push_back(ProfileKernel{});
  }
  ImGui::EndDisabled();
  ui_mark("profile.start");
  tooltip("Measures the present kernel and settings from the scene's first state, in a process of its own.");
}

void baseline_choice(const ProfileStatus& profiles, Requests& out) {
  const KernelProfile* const baseline = profiles.baseline();
  row_label("Against", "The profile that the latest one is compared with.");
  const bool previous = profiles.compared_with == CompareProfile::previous;
  const std::string shown = !baseline ? "no other profile yet" : (previous ? "last: " : "") + baseline->label();
  if (!begin_combo("profile.baseline", shown)) return;
  if (ImGui::Selectable("the one before", previous)) out.push_back(CompareProfile{});
  ui_mark("profile.baseline", "last");
  for (std::size_t row = 0; row + 1 < profiles.profiles.size(); ++row) {
    const int index = static_cast<int>(row);
    ImGui::PushID(index);
    if (ImGui::Selectable(row_name(row, profiles.profiles[row]).c_str(), profiles.compared_with == index)) {
      out.push_back(CompareProfile{index});
    }
    ui_mark("profile.baseline", fmt::format_int(index + 1).c_str());
    ImGui::PopID();
  }
  ImGui::EndCombo();
}

void figure_rows(const KernelProfile& profile, const KernelProfile* before) {
  for (const ProfileFigure& figure : profile_figures()) {
    const double value = profile.figure(figure.id);
    if (!std::isfinite(value)) continue;
    ImGui::BeginGroup();
    const std::string change = before ? "   " + change_text(figure_change(figure, *before, profile)) : "";
    labelled_value(figure.title, figure_text(figure, value) + change, theme::dim);
    if (figure.bar) {
      const ImVec2 low = ImGui::GetCursorScreenPos(), size{ImGui::GetContentRegionAvail().x, em(0.3f)};
      ImDrawList& draw = *ImGui::GetWindowDrawList();
      draw.AddRectFilled(low, {low.x + size.x, low.y + size.y}, theme::track, em(0.15f));
      const float width = size.x * static_cast<float>(std::clamp(value / 100, 0.0, 1.0));
      draw.AddRectFilled(low, {low.x + width, low.y + size.y}, theme::accent, em(0.15f));
      ImGui::Dummy(size);
    }
    ImGui::EndGroup();
    ui_mark("profile.figure", figure.id);
    tooltip(figure.sentence);
  }
}

void summary(const Status& status, const ViewStatus& view, Requests& out) {
  const ProfileStatus& profiles = view.profile;
  profile_button(status, view, out);
  if (profiles.active) {
    ImGui::SameLine();
    spinner(theme::accent);
    ImGui::SameLine();
    text(profiles.present, theme::dim, theme::Font::small);
  }
  baseline_choice(profiles, out);
  if (!profiles.error.empty()) {
    wrapped_text(profiles.error, theme::bad, theme::Font::small);
    ui_mark("profile.error");
  }
  const KernelProfile* const latest = profiles.latest();
  if (!latest) {
    wrapped_text(status.backend == Backend::cuda ? what_of_gpu : what_of_cpu, theme::dim);
    return;
  }
  text(latest->label(), theme::text, theme::Font::strong);
  wrapped_text(
      fmt::format("{} of {}, {}, measured in {:.2g} s{}", counted_bodies(latest->count), latest->scene, latest->device,
                  profiles.taken_s, latest->part.empty() ? "" : ", counters of the phase '" + latest->part + "'"),
      theme::dim, theme::Font::small);
  if (const KernelProfile* const before = profiles.baseline()) {
    const std::string line = difference_line(*before, *latest);
    if (!line.empty()) wrapped_text(fmt::format("Against {}: {}.", label_against(*before, *latest), line));
    ui_mark("profile.difference");
  }
  if (!latest->problem.empty()) {
    wrapped_text((latest->on_gpu ? "No counters: " : "") + latest->problem, latest->on_gpu ? theme::warn : theme::dim,
                 theme::Font::small);
    ui_mark("profile.problem");
  }
  if (latest->passes > 0 && !latest->missing.empty()) {
    wrapped_text(fmt::format("{} of the metrics are not on this chip ({}).", latest->missing.size(), latest->chip),
                 theme::dim, theme::Font::small);
  }
}

}  // namespace

void profile_content(const Status& status, const ViewStatus& view, PanelState&, float height, Requests& out) {
  const KernelProfile* const latest = view.profile.latest();
  const KernelProfile* const before = view.profile.baseline();
  const float room = ImGui::GetContentRegionAvail().x, gap = em(1);
  const bool wide = room >= em(40);
  const float column = wide ? (room - 2 * gap) / 3 : 0;
  ImGui::BeginChild("profile summary", {column, wide ? height : em(11)});
  summary(status, view, out);
  if (latest && latest->on_gpu) figure_rows(*latest, before);
  ImGui::EndChild();
  if (!latest) return;
  if (!latest->on_gpu) {
    if (wide) ImGui::SameLine(0, gap);
    ImGui::BeginChild("profile figures", {column, wide ? height : em(11)});
    figure_rows(*latest, before);
    ImGui::EndChild();
    return;
  }
  if (wide) ImGui::SameLine(0, gap);
  ImGui::BeginChild("profile stalls", {column, wide ? height : em(12)});
  stall_bars(*latest, before);
  ImGui::EndChild();
  if (wide) ImGui::SameLine(0, gap);
  const float plot_width = ImGui::GetContentRegionAvail().x;
  roofline_plot(view.profile, {plot_width, wide ? height : em(11)});
}

}  // namespace orrery
