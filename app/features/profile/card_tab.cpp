#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "app/features/profile/profile.h"
#include "app/lab/roofline/instruction_counts.h"
#include "app/panels/kit/format.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "app/panels/shown_words.h"
#include "app/ui_state/window_commands.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

using theme::em;

/// Draws a name, a share of the whole in words, and a bar for the share.
void share_row(const char* id, const char* name, const char* notes, std::optional<double> share,
               const std::string& words) {
  ImGui::BeginGroup();
  text(name, theme::dim, theme::Font::small);
  ImGui::SameLine();
  text_to(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x, share ? format_percent(*share) : unknown,
          theme::text, theme::Font::small);
  const ImVec2 low = ImGui::GetCursorScreenPos(), size{ImGui::GetContentRegionAvail().x, em(0.45f)};
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(low, {low.x + size.x, low.y + size.y}, theme::track, em(0.2f));
  if (share && *share > 0) {
    const float width = size.x * static_cast<float>(std::min(*share, 1.0));
    draw.AddRectFilled(low, {low.x + width, low.y + size.y}, theme::accent, em(0.15f));
  }
  ImGui::Dummy(size);
  ImGui::EndGroup();
  ui_mark(id);
  tooltip(notes, words);
}

void number_row(const char* name, const char* notes, const std::string& number) {
  ImGui::BeginGroup();
  text(name, theme::dim, theme::Font::small);
  ImGui::SameLine();
  text_to(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x, number, theme::text, theme::Font::small);
  ImGui::EndGroup();
  tooltip(notes);
}

void launch_column(const KernelCard& card) {
  number_row("registers / thread",
             "Registers per thread. With the block size, they limit how many threads "
             "a multiprocessor holds at once.",
             fmt::format("{}", card.registers));
  number_row("local / thread", "Local memory per thread: values that did not fit into registers.",
             fmt::format("{} B", format_count(static_cast<std::int64_t>(card.local_bytes))));
  number_row("shared / block", "Shared memory per block, static and dynamic.",
             fmt::format("{} B", format_count(static_cast<std::int64_t>(card.shared_bytes))));
  number_row("grid", "Number of blocks, and threads per block.",
             fmt::format("{} \u00d7 {}", format_count(card.blocks), format_count(card.block)));
  number_row("resident blocks", "Blocks that one multiprocessor holds at once.",
             fmt::format("{}", card.blocks_per_multiprocessor));
  number_row("waves",
             "Blocks divided by the blocks that the whole GPU holds at once. If it is just above a whole number, the "
             "last wave leaves most of the GPU idle.",
             fmt::format("{:.2f}", card.waves));
}

/// Draws a button that selects the block size with the highest occupancy, if the kernel offers that size.
void better_block(const KernelInfo& kernel, const Status& status, const KernelCard& card, Requests& out) {
  if (!(card.best_occupancy > card.occupancy)) return;
  const std::string block = std::to_string(card.best_block);
  const Tunable* tunable = kernel.tunable("block");
  const std::string words = fmt::format("block {}: {}", block, format_percent(card.best_occupancy));
  if (tunable && tunable->allows(block) && status.settings.text_or_none("block") != block) {
    if (ImGui::Button(fmt::format("Apply {}###better block", words).c_str(), {ImGui::GetContentRegionAvail().x, 0})) {
      out.push_back(SetTunable{"block", block});
    }
    ui_mark("card.block");
    tooltip(
        "The smallest block size with the highest occupancy. More resident threads hide more latency, but they "
        "need not be faster: measure.");
  } else {
    wrapped_text("Highest with " + words, theme::dim, theme::Font::small);
  }
}

/// Returns the shares of the machine's peak rates; none if the peak rates or the kernel's rate are not known.
RooflineShares shares_of(const Status& status, const ViewStatus& view) {
  if (!view.peak_rates || !(view.step_ms_median > 0) || view.measured == 0) return {};
  const double per_s = status.interactions_per_step / (view.step_ms_median * 1e-3);
  const InteractionCost cost{.instructions = view.instructions_per_interaction,
                             .mufu = view.mufu_per_interaction,
                             .double_precision = view.instructions_double};
  return roofline_shares(per_s, cost, *view.peak_rates, view.clock_mhz);
}

/// Returns a sentence with the clock to which the peak rates refer.
std::string clock_words(const ViewStatus& view) {
  if (!view.peak_rates) return "The peak rates are not measured yet.";
  const double measured_mhz = view.peak_rates->clock_mhz;
  if (!(measured_mhz > 0)) return "The peak rates are as measured on this GPU; its clock is not known.";
  if (!view.clock_mhz) return fmt::format("The peak rates at {:.0f} MHz, as measured.", measured_mhz);
  return fmt::format("The peak rates at {:.0f} MHz, the present clock; measured at {:.0f} MHz.", *view.clock_mhz,
                     measured_mhz);
}

/// Returns that clock alone, in MHz.
std::string clock_number(const ViewStatus& view) {
  if (!view.peak_rates || !(view.peak_rates->clock_mhz > 0)) return unknown;
  return view.clock_mhz ? fmt::format("{:.0f} MHz", *view.clock_mhz)
                        : fmt::format("{:.0f} MHz, as measured", view.peak_rates->clock_mhz);
}

void limits_column(const KernelInfo& kernel, const Status& status, const ViewStatus& view, Requests& out) {
  const KernelCard& card = *status.card;
  share_row("card.occupancy", "occupancy",
            "Theoretical: resident warps divided by the most that a multiprocessor holds.", card.occupancy, {});
  better_block(kernel, status, card, out);
  const RooflineShares shares = shares_of(status, view);
  const std::string clock = clock_words(view);
  constexpr const char* other_rate = "Some are in double precision, which has another peak rate.";
  const std::string issued = view.instructions_per_interaction ? fmt::format("{:.1f} instructions per interaction.",
                                                                             *view.instructions_per_interaction)
                                                               : view.instructions_reason;
  const std::string mufu = view.mufu_per_interaction
                               ? fmt::format("{:.2f} per interaction.", *view.mufu_per_interaction)
                           : view.instructions_per_interaction ? std::string{other_rate}
                                                               : view.instructions_reason;
  share_row("card.issue", "of peak issue rate",
            "Instructions that the inner loop issues per second, divided by the most that the schedulers can issue.",
            shares.issue,
            issued + (view.instructions_double ? fmt::format("\n{}", other_rate) : std::string{}) + "\n" + clock);
  share_row(
      "card.mufu", "of peak MUFU rate",
      "Operations of the special function units (reciprocal square roots) per second, divided by their peak rate.",
      shares.mufu, mufu + "\n" + clock);
  number_row("clock", clock.c_str(), clock_number(view));
  number_row("instr. / interaction", "Instructions per interaction, counted in the machine code of the inner loop.",
             view.instructions_per_interaction ? fmt::format("{:.1f}", *view.instructions_per_interaction) : unknown);
  if (!view.instructions_per_interaction && !view.instructions_reason.empty()) {
    wrapped_text(view.instructions_reason, theme::dim, theme::Font::small);
  } else if (view.instructions_double) {
    wrapped_text("No share of the peak issue rate: some instructions are in double precision.", theme::dim,
                 theme::Font::small);
  }
}

/// Returns the latest profile of the current CPU kernel with its current settings; null if there is none.
const KernelProfile* profile_of(const Status& status, const ViewStatus& view) {
  const std::vector<KernelProfile>& profiles = view.features.of<ProfileStatus>().profiles;
  const auto found = std::find_if(profiles.rbegin(), profiles.rend(), [&](const KernelProfile& profile) {
    return !profile.on_gpu && profile.kernel_id == status.kernel_id && profile.settings == status.settings.changes();
  });
  return found == profiles.rend() ? nullptr : &*found;
}

/// Draws the column of a CPU kernel, in the place of a CUDA kernel's launch figures.
void cpu_column(const Status& status, const ViewStatus& view) {
  const KernelProfile* const profile = profile_of(status, view);
  if (!profile) {
    wrapped_text(
        "Registers, occupancy and waves belong to a GPU launch. A CPU kernel has none. A profile measures its vector "
        "width, its threads and its share of the processor's FMA limit.",
        theme::dim);
    ui_mark("card.none");
    return;
  }
  for (const char* id : {"vector_bits", "threads", "arithmetic", "fma_limit_per_s"}) {
    const ProfileFigure& figure = *find_profile_figure(id);
    number_row(figure.title, figure.sentence, figure_text(figure, profile->figure(id)));
  }
  const ProfileFigure& share = *find_profile_figure("fma_share");
  const double percent = profile->figure(share.id);
  share_row("card.fma", share.title, share.sentence,
            std::isfinite(percent) ? std::optional{percent / 100} : std::nullopt,
            fmt::format("With {} of {}{}.", counted_bodies(profile->count), profile->scene,
                        profile->law.empty() ? "" : ", " + profile->law));
  wrapped_text(profile->problem, theme::dim, theme::Font::small);
}

/// Draws a button that takes a profile and opens the tab Profile.
void profile_card_button(const Status& status, const ViewStatus& view, Requests& out) {
  ImGui::BeginDisabled(view.features.of<ProfileStatus>().active || status.choosing || view.measuring());
  if (ImGui::Button(view.features.of<ProfileStatus>().active ? "Profiling ...###card profile"
                                                             : "Profile###card profile")) {
    out.push_back(ProfileKernel{});
    out.push_back(ShowLab{"profile"});
  }
  ImGui::EndDisabled();
  ui_mark("card.profile");
  tooltip("Measures where the time of this kernel goes, in a process of its own. The window goes on.");
}

void lesson_column(const KernelInfo& kernel, const Status& status, const ViewStatus& view, Requests& out) {
  text(kernel.title, theme::text, theme::Font::strong);
  wrapped_text(kernel.lesson);
  ImGui::Dummy({0, em(0.1f)});
  wrapped_text(kernel.source, theme::dim, theme::Font::small);
  ui_mark("card.source");
  profile_card_button(status, view, out);
}

void card_content(const Status& status, const ViewStatus& view, PanelState&, float height, Requests& out) {
  const KernelInfo* kernel = status.kernel.get();
  if (!kernel) return;
  const bool wide = ImGui::GetContentRegionAvail().x >= em(34);
  const float gap = em(1.2f), words = wide ? 0.4f * ImGui::GetContentRegionAvail().x : 0;
  ImGui::BeginChild("lesson", {words, wide ? height : em(9)});
  lesson_column(*kernel, status, view, out);
  ImGui::EndChild();
  if (!status.card) {
    if (wide) ImGui::SameLine(0, gap);
    ImGui::BeginChild("no card", {0, wide ? height : em(6)});
    if (kernel->backend == Backend::cpu) {
      cpu_column(status, view);
    } else {
      wrapped_text("The resources of this kernel's launch are not known.", theme::dim);
      ui_mark("card.none");
    }
    ImGui::EndChild();
    return;
  }
  if (wide) ImGui::SameLine(0, gap);
  const float third = wide ? (ImGui::GetContentRegionAvail().x - gap) / 2 : 0;
  ImGui::BeginChild("launch", {third, wide ? height : em(8.4f)});
  launch_column(*status.card);
  ImGui::EndChild();
  if (wide) ImGui::SameLine(0, gap);
  ImGui::BeginChild("limits", {0, wide ? height : em(11.5f)});
  limits_column(*kernel, status, view, out);
  ImGui::EndChild();
}

}  // namespace

const Tab card_tab{"Card", "The present kernel: its idea, its resources, and its shares of the GPU's peak rates.",
                   card_content};

}  // namespace orrery
