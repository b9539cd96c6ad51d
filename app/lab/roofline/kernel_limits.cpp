#include "app/lab/roofline/kernel_limits.h"

#include <fmt/format.h>

#include "app/lab/roofline/limits.h"
#include "app/lab/settings_cells.h"
#include "app/text/format_count.h"
#include "app/text/table.h"
#include "compute/core/stop_signal.h"

namespace orrery {
namespace {

Json or_null(std::optional<double> number) {
  return number ? json_number(*number) : Json(nullptr);
}

std::string percent(std::optional<double> share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "-";
}

std::string number(std::optional<double> value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "-";
}

/// The clock that was in force while the steps ran.
std::optional<double> clock_of(const VariantResult& result) {
  const auto found = result.machine_during.find("clock_mhz");
  if (found == result.machine_during.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

}  // namespace

/// A stop is not held up by what takes seconds for each function.
Slots KernelLimits::slots_of(const KernelCard& card) {
  if (stop_requested()) return {.per_interaction = {}, .reason = "stopped before they were counted"};
  return slots_in_this_program(card.name, card.architecture);
}

KernelLimits::Limits KernelLimits::limits_of(const VariantResult& result) {
  const KernelCard& card = *result.status.card;
  const KernelInfo& kernel = *result.status.kernel;
  if (kernel.is_tree) {
    return {.slots = {},
            .mufu = {},
            .issue_share = {},
            .mufu_share = {},
            .clock_mhz = clock_of(result),
            .reason = no_slots_of_a_tree};
  }
  auto known = counted_.find(card.name);
  if (known == counted_.end()) known = counted_.emplace(card.name, count_slots_(card)).first;
  const Slots& slots = known->second;
  const double pairs = kernel.pairs_per_interaction;
  const auto each_interaction = [&](std::optional<double> each_pair) -> std::optional<double> {
    if (!each_pair) return std::nullopt;
    return *each_pair * pairs;
  };
  Limits limits{.slots = each_interaction(slots.per_interaction),
                .mufu = each_interaction(slots.mufu_per_interaction),
                .issue_share = {},
                .mufu_share = {},
                .clock_mhz = clock_of(result),
                .reason = slots.reason};
  if (!limits.reason.empty()) return limits;
  if (!peak_rates_.peak_rates) {
    limits.reason = "peak rates not measured: " + peak_rates_.reason;
    return limits;
  }
  const PeakRates& most = *peak_rates_.peak_rates;
  const auto share = [&](std::optional<double> each, double most_per_s) {
    return share_of_limit(result.interactions_per_s(), each, most_per_s, most.clock_mhz, limits.clock_mhz);
  };
  if (slots.double_precision) {
    limits.reason = "some instructions are in double precision, at another rate than the limits'";
  } else {
    limits.issue_share = share(limits.slots, most.fma_per_s);
  }
  limits.mufu_share = share(limits.mufu, most.rsqrt_per_s);
  return limits;
}

Json KernelLimits::json(const SweepEntry& entry) {
  if (!entry.result || !entry.result->status.card) return nullptr;
  const Limits limits = limits_of(*entry.result);
  return {{"slots_per_interaction", or_null(limits.slots)}, {"mufu_per_interaction", or_null(limits.mufu)},
          {"issue_share", or_null(limits.issue_share)},     {"mufu_share", or_null(limits.mufu_share)},
          {"clock_mhz", or_null(limits.clock_mhz)},         {"reason", limits.reason}};
}

std::string KernelLimits::text(std::span<const SweepEntry> entries, const TextStyle& style) {
  Table cards{"ltrrrrrrrrr",
              {"kernel", "settings", "n", "registers", "local B", "shared B", "grid", "blocks/SM", "occupancy",
               "best block", "waves"},
              {"best block", "local B", "waves", "grid", "shared B"}};
  Table shares{"ltrrrrrr", {"kernel", "settings", "n", "slots", "MUFU", "of issue", "of MUFU", "MHz"}};
  SettingsCells cells{style};
  const auto has_card = [](const SweepEntry& entry) { return entry.result && entry.result->status.card; };
  for (const SweepEntry& entry : entries) {
    if (has_card(entry)) {
      const Status& status = entry.result->status;
      cells.add(status.kernel_id, status.settings.values(), status.kernel.get());
    }
  }
  std::map<std::string, std::string> reasons;  // by kernel and settings
  bool any = false;
  for (const SweepEntry& entry : entries) {
    if (!has_card(entry)) continue;
    any = true;
    const Status& status = entry.result->status;
    const KernelCard& card = *status.card;
    const Limits limits = limits_of(*entry.result);
    const std::string settings = cells.text(status.kernel_id, status.settings.values());
    const std::string n = format_count(status.count);
    cards.add({status.kernel_id, settings, n, std::to_string(card.registers), format_count(card.local_bytes),
               format_count(static_cast<std::int64_t>(card.shared_bytes)),
               fmt::format("{} x {}", format_count(card.blocks), card.block),
               std::to_string(card.blocks_per_multiprocessor), percent(card.occupancy),
               fmt::format("{}: {}", card.best_block, percent(card.best_occupancy)), number(card.waves, 2)});
    shares.add({status.kernel_id, settings, n, number(limits.slots, 1), number(limits.mufu, 2),
                percent(limits.issue_share), percent(limits.mufu_share), number(limits.clock_mhz, 0)});
    if (!limits.reason.empty()) reasons[status.kernel_id + (settings.empty() ? "" : " ") + settings] = limits.reason;
  }
  if (!any) return "\nno kernel card: nothing ran on a GPU\n";
  std::string text = '\n' + paragraph("kernel cards; per thread, block and grid", style) + cards.text(style) + '\n' +
                     paragraph("limits; per interaction", style) + shares.text(style) +
                     paragraph(
                         "Shares are of the peak rates at the clock in force (MHz), or as measured where that is not "
                         "known.",
                         style) +
                     paragraph(peak_rates_.text(), style, 11);
  for (const auto& [which, reason] : reasons) text += paragraph(which + ": " + reason, style, 2);
  return text;
}

}  // namespace orrery
