#include "app/lab/roofline/kernel_limits.h"

#include <fmt/format.h>

#include "app/lab/roofline/instruction_counts.h"
#include "app/lab/variants.h"
#include "app/text/table.h"
#include "compute/core/stop_signal.h"
#include "compute/core/text.h"

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

/// The clock while the steps ran.
std::optional<double> clock_of(const VariantResult& result) {
  const auto found = result.machine_during.find("clock_mhz");
  if (found == result.machine_during.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

}  // namespace

/// Counting takes seconds for each function, so a stop skips it.
InstructionCounts KernelLimits::count_instructions(const KernelCard& card) {
  if (stop_requested()) return {.reason = "stopped before they were counted"};
  return counts_in_this_program(card.name, card.architecture);
}

KernelLimits::Limits KernelLimits::limits_of(const VariantResult& result) {
  const KernelCard& card = *result.status.card;
  const KernelInfo& kernel = *result.status.kernel;
  Limits limits{.clock_mhz = clock_of(result)};
  if (kernel.is_tree) {
    limits.reason = no_instructions_of_a_tree;
    return limits;
  }
  auto known = counted_.find(card.name);
  if (known == counted_.end()) known = counted_.emplace(card.name, count_(card)).first;
  limits.cost = known->second.cost(kernel.pairs_per_interaction);
  limits.reason = known->second.reason;
  if (!limits.reason.empty()) return limits;
  if (!peak_rates_.peak_rates) {
    limits.reason = "peak rates not measured: " + peak_rates_.reason;
    return limits;
  }
  limits.shares = roofline_shares(result.interactions_per_s(), limits.cost, *peak_rates_.peak_rates, limits.clock_mhz);
  const bool exceeded = (limits.cost.mufu && !limits.shares.mufu) ||
                        (limits.cost.instructions && !limits.cost.double_precision && !limits.shares.issue);
  if (exceeded) limits.reason = "it exceeded the measured peak rate, so the true peak is not known";
  if (limits.cost.double_precision) limits.reason = "some instructions are in double precision, at another peak rate";
  return limits;
}

Json KernelLimits::json(const SweepEntry& entry) {
  if (!entry.result || !entry.result->status.card) return nullptr;
  const Limits limits = limits_of(*entry.result);
  return {{"instructions_per_interaction", or_null(limits.cost.instructions)},
          {"mufu_per_interaction", or_null(limits.cost.mufu)},
          {"issue_share", or_null(limits.shares.issue)},
          {"mufu_share", or_null(limits.shares.mufu)},
          {"clock_mhz", or_null(limits.clock_mhz)},
          {"reason", limits.reason}};
}

std::string KernelLimits::text(std::span<const SweepEntry> entries, const TextStyle& style) {
  Table cards{"ltrrrrrrrrr",
              {"kernel", "settings", "n", "registers", "local B", "shared B", "grid", "blocks/SM", "occupancy",
               "best block", "waves"},
              {"best block", "local B", "waves", "grid", "shared B"}};
  Table shares{"ltrrrrrr", {"kernel", "settings", "n", "instructions", "MUFU", "of issue", "of MUFU", "MHz"}};
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
    shares.add({status.kernel_id, settings, n, number(limits.cost.instructions, 1), number(limits.cost.mufu, 2),
                percent(limits.shares.issue), percent(limits.shares.mufu), number(limits.clock_mhz, 0)});
    if (!limits.reason.empty()) reasons[status.kernel_id + (settings.empty() ? "" : " ") + settings] = limits.reason;
  }
  if (!any) return "\nno kernel card: nothing ran on a GPU\n";
  std::string text =
      '\n' + paragraph("kernel cards; per thread, block and grid", style) + cards.text(style) + '\n' +
      paragraph("instructions per interaction, and shares of the peak rates", style) + shares.text(style) +
      paragraph(
          "Shares are of the peak rates at the clock during the measurement (MHz), or as they were measured "
          "if that clock is not known.",
          style) +
      paragraph(peak_rates_.text(), style, 11);
  for (const auto& [which, reason] : reasons) text += paragraph(which + ": " + reason, style, 2);
  return text;
}

}  // namespace orrery
