#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "app/features/profile/profile.h"
#include "app/panels/kit/format.h"
#include "app/panels/kit/plots.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "app/ui_state/status.h"

namespace orrery {
namespace {

using theme::em;

/// Draws a name and, at the right end of the line, a value in the small font. Shortens the name if necessary.
void labelled_value(const char* name, const std::string& value, ImU32 name_colour) {
  const float room = ImGui::GetContentRegionAvail().x;
  ImGui::PushFont(theme::font(theme::Font::small));
  const std::string shown = shortened(name, std::max(room - ImGui::CalcTextSize(value.c_str()).x - em(0.5f), em(2)));
  ImGui::PopFont();
  const float right = ImGui::GetCursorPosX() + room;
  text(shown, name_colour, theme::Font::small);
  ImGui::SameLine();
  text_to(right, value, theme::text, theme::Font::small);
}

/// Eight colours that colour-blind people can tell apart. Further reasons get lighter shades of them.
constexpr std::array<ImU32, 8> hues{
    IM_COL32(86, 180, 233, 255), IM_COL32(230, 159, 0, 255), IM_COL32(0, 158, 115, 255), IM_COL32(204, 121, 167, 255),
    IM_COL32(240, 228, 66, 255), IM_COL32(213, 94, 0, 255),  IM_COL32(0, 114, 178, 255), IM_COL32(153, 153, 153, 255)};

/// Returns the colour of a reason, which is the same in every bar.
ImU32 colour_of(const StallReason& reason) {
  const auto at = static_cast<std::size_t>(&reason - stall_reasons().data());
  const ImU32 hue = hues[at % hues.size()];
  return at < hues.size() ? hue : theme::faded(hue, at < 2 * hues.size() ? 0.65f : 0.4f);
}

float label_width() {
  return std::min(em(7.5f), 0.35f * ImGui::GetContentRegionMax().x);
}

void stacked_bar(const char* id, const std::string& label, const KernelProfile& profile, double most_warps) {
  const std::vector<StallShare> shares = stall_shares(profile);
  text(shortened(label, label_width()), theme::dim, theme::Font::small);
  ImGui::SameLine(label_width() + em(0.4f));
  const ImVec2 low = ImGui::GetCursorScreenPos(), size{ImGui::GetContentRegionAvail().x, em(0.85f)};
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(low, {low.x + size.x, low.y + size.y}, theme::track, em(0.2f));
  float left = low.x;
  for (const StallShare& share : shares) {
    const float width = most_warps > 0 ? size.x * static_cast<float>(share.warps / most_warps) : 0;
    const ImVec2 from{left, low.y}, to{left + width, low.y + size.y};
    draw.AddRectFilled(from, to, colour_of(*share.reason));
    if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(from, to)) {
      show_tooltip(fmt::format("{}: {:.2f} warps, {}", share.reason->title, share.warps, share_text(share.share)),
                   share.reason->meaning);
    }
    left += width;
  }
  ImGui::Dummy(size);
  ui_mark(id);
}

double all_warps(const KernelProfile& profile) {
  double sum = 0;
  for (const StallShare& share : stall_shares(profile)) sum += share.warps;
  return sum;
}

void reason_row(const StallShare& share, const KernelProfile* before) {
  ImGui::BeginGroup();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + em(0.15f)}, {at.x + em(0.6f), at.y + em(0.75f)},
                                            colour_of(*share.reason));
  ImGui::Dummy({em(0.6f), em(0.6f)});
  ImGui::SameLine(0, em(0.35f));
  const std::string change =
      before ? "   " + change_text(relative_change(before->stall(share.reason->id), share.warps)) : std::string{};
  labelled_value(share.reason->title, share_text(share.share) + change, theme::text);
  wrapped_text(fmt::format("{} {}", share.reason->meaning, share.reason->remedy), theme::dim, theme::Font::small);
  ImGui::EndGroup();
  ui_mark("profile.reason", share.reason->id);
}

/// Draws the rows of reasons with a small share, in a section that is closed at first.
void small_reasons(std::span<const StallShare> shares, const KernelProfile* before) {
  if (shares.empty()) return;
  double sum = 0;
  for (const StallShare& share : shares) sum += share.share;
  const std::string title = fmt::format("others, {} reason{}", shares.size(), shares.size() == 1 ? "" : "s");
  if (!section("small stalls", title.c_str(), false, share_text(sum))) return;
  for (const StallShare& share : shares) reason_row(share, before);
}

/// Draws a stacked bar of all reasons, largest first, and one of `before`, which may be null. Below, draws a row for
/// each reason with its share, its change and its sentence. Small reasons are in a section that opens.
void stall_bars(const KernelProfile& profile, const KernelProfile* before) {
  const double most = std::max(all_warps(profile), before ? all_warps(*before) : 0.0);
  stacked_bar("profile.bar", profile.label(), profile, most);
  if (before && !before->stalls.empty()) stacked_bar("profile.bar before", before->label(), *before, most);
  ImGui::Dummy({0, em(0.15f)});
  const std::vector<StallShare> shares = stall_shares(profile);
  const auto small = std::ranges::find_if(shares, [](const StallShare& share) { return share.share < small_share; });
  for (auto share = shares.begin(); share != small; ++share) reason_row(*share, before);
  small_reasons({small, shares.end()}, before);
}

bool has_place(const KernelProfile& profile) {
  return profile.figure("flop_per_byte") > 0 && profile.figure("flop_per_s") > 0;
}

/// Returns the latest profile that has both peak rates; null if none has.
const KernelProfile* with_peaks(const std::vector<KernelProfile>& profiles) {
  const auto found = std::find_if(profiles.rbegin(), profiles.rend(), [](const KernelProfile& profile) {
    return profile.figure("peak_flop_per_s") > 0 && profile.figure("peak_dram_per_s") > 0;
  });
  return found == profiles.rend() ? nullptr : &*found;
}

/// Draws the GPU's limits of arithmetic and memory, and a dot for each profile with both rates.
void roofline_plot(const ProfileStatus& profiles, ImVec2 size) {
  const auto label = [](double value, int) { return with_prefix(value); };
  Plot plot{.across = {.title = "flop per byte of DRAM traffic", .logarithmic = true, .label = label},
            .up = {.title = "flop/s in FP32", .logarithmic = true, .label = label}};
  for (std::size_t i = 0; i < profiles.profiles.size(); ++i) {
    const KernelProfile& profile = profiles.profiles[i];
    if (!has_place(profile)) continue;
    const bool latest = &profile == profiles.latest();
    plot.marks.push_back({.at = {profile.figure("flop_per_byte"), profile.figure("flop_per_s")},
                          .row = static_cast<int>(i),
                          .ink = latest ? PlotInk::accent : PlotInk::dim,
                          .label = latest ? profile.kernel_id : ""});
  }
  if (const KernelProfile* const peaks = with_peaks(profiles.profiles)) {
    const double flop = peaks->figure("peak_flop_per_s"), ridge = flop / peaks->figure("peak_dram_per_s");
    plot.lines.push_back(
        {.ink = PlotInk::good, .stroke = PlotStroke::limit, .points = {{ridge, flop}, {INFINITY, flop}}});
    plot.fit();
    // Both axes are logarithmic, so the memory limit is a straight line up to the ridge.
    const double begin = std::max(plot.across.low, plot.up.low * ridge / flop);
    plot.lines.front().points.insert(plot.lines.front().points.begin(), {begin, begin * flop / ridge});
  } else {
    plot.fit();
  }
  if (plot.marks.empty() && plot.lines.empty()) plot.remark = "No profile with counters yet.";
  const PlotUse use = draw_plot("profile.roofline", plot, size);
  if (!use.hovered) return;
  const KernelProfile& profile = profiles.profiles[static_cast<std::size_t>(*use.hovered)];
  show_tooltip(profile.label(), counted_bodies(profile.count));
}

constexpr const char* what_of_gpu =
    "A profile shows what the warps of a kernel wait for, and how near it comes to the limits of the GPU.";

constexpr const char* what_of_cpu =
    "A profile shows the vector width and the threads of a kernel, and how near it comes to the processor's FMA limit.";

std::string row_name(std::size_t row, const KernelProfile& profile) {
  return fmt::format("{}: {}, {}", row + 1, profile.label(), counted_bodies(profile.count));
}

void profile_button(const Status& status, const ViewStatus& view, Requests& out) {
  ImGui::BeginDisabled(view.features.of<ProfileStatus>().active || status.choosing || view.measuring());
  if (accent_button(view.features.of<ProfileStatus>().active ? "Profiling ...###profile" : "Profile###profile",
                    {em(7), 0})) {
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
  const ProfileStatus& profiles = view.features.of<ProfileStatus>();
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

void profile_content(const Status& status, const ViewStatus& view, PanelState&, float height, Requests& out) {
  const KernelProfile* const latest = view.features.of<ProfileStatus>().latest();
  const KernelProfile* const before = view.features.of<ProfileStatus>().baseline();
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
  roofline_plot(view.features.of<ProfileStatus>(), {plot_width, wide ? height : em(11)});
}

}  // namespace

const Tab profile_tab{"Profile", "Where the time of the present kernel goes, by the GPU's counters.", profile_content};

}  // namespace orrery
