// Peak rates of this machine, and the fractions of them that kernels reach.
#include "app/lab/roofline/roofline.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "app/lab/metadata.h"
#include "app/lab/roofline/instruction_counts.h"
#include "app/lab/variants.h"
#include "app/text/table.h"
#include "compute/core/process.h"
#include "compute/core/text.h"
#include "compute/core/threads.h"
#include "compute/kernels/vector_units.h"
#if ORRERY_HAVE_CUDA
#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/cuda/device.h"
#endif

namespace orrery {
namespace {

constexpr std::size_t triad_arrays = 3;
constexpr int triad_passes = 4;
constexpr int part_length = 1024;  // floats; constant, so that the compiler vectorizes; 12 KiB fit into the L1 cache
using TriadPart = float[part_length];
constexpr int parts_of_a_chunk = 64;

void add_scaled_part(const float* __restrict__ a, const float* __restrict__ b, float factor, float* __restrict__ sum) {
  for (int i = 0; i < part_length; ++i) sum[i] = a[i] + factor * b[i];
}

std::string number(std::optional<double> value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "-";
}

Json or_null(std::optional<double> number) {
  return number ? json_number(*number) : Json(nullptr);
}

/// Returns null for 0, which means "not known".
Json or_null(double rate) {
  return rate > 0 ? Json(rate) : Json(nullptr);
}

std::string memory_text(const PeakRates& rates) {
  if (!(rates.dram_bytes_per_s > 0)) return "too little free memory to measure its rate";
  std::string text = with_prefix(rates.dram_bytes_per_s) + "B/s of memory";
  if (rates.dram_limit_bytes_per_s >= rates.dram_bytes_per_s) {
    text += fmt::format(" ({:.0f} % of what its clock allows)",
                        100 * rates.dram_bytes_per_s / rates.dram_limit_bytes_per_s);
  }
  return text;
}

std::string percent(std::optional<double> share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "-";
}

/// Returns the clock during the steps, in MHz.
std::optional<double> clock_of(const Measurement& result) {
  if (!result.machine) return std::nullopt;
  const auto found = result.machine->during.find("clock_mhz");
  if (found == result.machine->during.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

}  // namespace

std::size_t uncached_array_bytes() {
  constexpr std::int64_t mib = 1 << 20;
  const std::int64_t cache = std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE));
  const std::int64_t wanted = std::clamp<std::int64_t>(2 * cache, 64 * mib, 256 * mib);
  return bodies_that_fit(/*bytes_per_body=*/8) < wanted ? 0 : static_cast<std::size_t>(wanted);
}

double measure_memory_rate(int threads, std::size_t array_bytes) {
  const int parts = static_cast<int>(array_bytes / sizeof(TriadPart));
  if (parts == 0) return 0;
  const auto a = std::make_unique_for_overwrite<TriadPart[]>(static_cast<std::size_t>(parts));
  const auto b = std::make_unique_for_overwrite<TriadPart[]>(static_cast<std::size_t>(parts));
  const auto sum = std::make_unique_for_overwrite<TriadPart[]>(static_cast<std::size_t>(parts));
  const auto in_parts = [&](const auto& work) {
    for_each_chunk(parts, parts_of_a_chunk, threads, nullptr, [&](int first, int last) {
      for (int i = first; i < last; ++i) work(i);
    });
  };
  // Touch all pages first: the first access to a page is slow.
  in_parts([&](int i) {
    for (TriadPart* array : {a.get(), b.get(), sum.get()}) std::fill_n(array[i], part_length, 1.0f);
  });
  double best_s = 0;
  for (int pass = 0; pass < triad_passes; ++pass) {
    const auto begin = std::chrono::steady_clock::now();
    in_parts([&](int i) { add_scaled_part(a[i], b[i], 0.5f, sum[i]); });
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    best_s = pass == 0 ? s : std::min(best_s, s);
  }
  return static_cast<double>(triad_arrays) * parts * sizeof(TriadPart) / best_s;
}

Json CpuPeakRates::json() const {
  return {{"threads", threads},
          {"instruction_set", instruction_set},
          {"fma_per_s", json_number(fma_per_s)},
          {"memory_bytes_per_s", memory_bytes_per_s > 0 ? json_number(memory_bytes_per_s) : Json(nullptr)}};
}

std::string CpuPeakRates::text() const {
  return fmt::format("{} thread{}: {} FMA/s in FP32 ({}), {}", threads, threads == 1 ? "" : "s", with_prefix(fma_per_s),
                     instruction_set,
                     memory_bytes_per_s > 0 ? with_prefix(memory_bytes_per_s) + "B/s of memory"
                                            : "too little free memory to measure its rate");
}

CpuPeakRates measure_cpu_peak_rates() {
  const int threads = usable_threads();
  const FmaLimit limit = measure_fma_limit(threads);
  return {.threads = threads,
          .instruction_set = limit.instruction_set,
          .fma_per_s = limit.per_s,
          .memory_bytes_per_s = measure_memory_rate(threads)};
}

Json MachinePeakRates::json() const {
  if (!peak_rates) return {{"reason", reason}};
  return {{"device", device},
          {"fma_per_s", peak_rates->fma_per_s},
          {"fp32_flop_per_s", 2 * peak_rates->fma_per_s},
          {"rsqrt_per_s", peak_rates->rsqrt_per_s},
          {"clock_mhz", std::round(peak_rates->clock_mhz)},
          {"dram_bytes_per_s", or_null(peak_rates->dram_bytes_per_s)},
          {"dram_limit_bytes_per_s", or_null(peak_rates->dram_limit_bytes_per_s)}};
}

std::string MachinePeakRates::text() const {
  if (!peak_rates) return fmt::format("not measured: {}", reason);
  return fmt::format(
      "{:.1f} TFLOP/s in FP32 ({:.2f} T FMA/s at 2 flop each), {:.2f} T rsqrt/s, {}; GPU {} at {:.0f} MHz",
      2 * peak_rates->fma_per_s * 1e-12, peak_rates->fma_per_s * 1e-12, peak_rates->rsqrt_per_s * 1e-12,
      memory_text(*peak_rates), device, peak_rates->clock_mhz);
}

MachinePeakRates measure_machine_peak_rates([[maybe_unused]] const Backends& backends) {
#if ORRERY_HAVE_CUDA
  if (!backends.device()) return {.reason = backends.status(Backend::cuda).reason};
  try {
    return {.device = backends.device()->ordinal(), .peak_rates = cuda::measure_peak_rates(*backends.device())};
  } catch (const std::exception& failure) {
    return {.reason = failure_text(failure)};
  }
#else
  return {.reason = "this program was built without CUDA"};
#endif
}

/// Counts unless a stop was requested, as each function takes seconds.
InstructionCounts KernelLimits::count_instructions(const KernelCard& card) {
  if (stop_requested()) return {.reason = "stopped before they were counted"};
  return counts_in_this_program(card.name, card.architecture);
}

KernelLimits::Limits KernelLimits::limits_of(const Measurement& result) {
  const KernelCard& card = *result.card;
  const KernelInfo& kernel = *result.kernel;
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
  limits.shares = roofline_shares(result.interactions_per_s, limits.cost, *peak_rates_.peak_rates, limits.clock_mhz);
  const bool exceeded = (limits.cost.mufu && !limits.shares.mufu) ||
                        (limits.cost.instructions && !limits.cost.double_precision && !limits.shares.issue);
  if (exceeded) limits.reason = "it exceeded the measured peak rate, so the true peak is not known";
  if (limits.cost.double_precision) limits.reason = "some instructions are in double precision, at another peak rate";
  return limits;
}

Json KernelLimits::json(const Measurement& entry) {
  if (!entry.card) return nullptr;
  const Limits limits = limits_of(entry);
  return {{"instructions_per_interaction", or_null(limits.cost.instructions)},
          {"mufu_per_interaction", or_null(limits.cost.mufu)},
          {"issue_share", or_null(limits.shares.issue)},
          {"mufu_share", or_null(limits.shares.mufu)},
          {"clock_mhz", or_null(limits.clock_mhz)},
          {"reason", limits.reason}};
}

std::string KernelLimits::text(std::span<const Measurement> entries, const TextStyle& style) {
  Table cards{"ltrrrrrrrrr",
              {"kernel", "settings", "n", "registers", "local B", "shared B", "grid", "blocks/SM", "occupancy",
               "best block", "waves"},
              {"best block", "local B", "waves", "grid", "shared B"}};
  Table shares{"ltrrrrrr", {"kernel", "settings", "n", "instructions", "MUFU", "of issue", "of MUFU", "MHz"}};
  SettingsCells cells{style};
  for (const Measurement& entry : entries) {
    if (entry.card) cells.add(entry.kernel_id, entry.values, entry.kernel.get());
  }
  std::map<std::string, std::string> reasons;  // key: kernel and settings
  bool any = false;
  for (const Measurement& entry : entries) {
    if (!entry.card) continue;
    any = true;
    const KernelCard& card = *entry.card;
    const Limits limits = limits_of(entry);
    const std::string settings = cells.text(entry.kernel_id, entry.values);
    const std::string n = format_count(entry.count);
    cards.add({entry.kernel_id, settings, n, std::to_string(card.registers), format_count(card.local_bytes),
               format_count(static_cast<std::int64_t>(card.shared_bytes)),
               fmt::format("{} x {}", format_count(card.blocks), card.block),
               std::to_string(card.blocks_per_multiprocessor), percent(card.occupancy),
               fmt::format("{}: {}", card.best_block, percent(card.best_occupancy)), number(card.waves, 2)});
    shares.add({entry.kernel_id, settings, n, number(limits.cost.instructions, 1), number(limits.cost.mufu, 2),
                percent(limits.shares.issue), percent(limits.shares.mufu), number(limits.clock_mhz, 0)});
    if (!limits.reason.empty()) reasons[entry.kernel_id + (settings.empty() ? "" : " ") + settings] = limits.reason;
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
