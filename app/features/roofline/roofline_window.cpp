// Finds peak rates, clock and instruction counts for the window.
#include "app/features/roofline/roofline_window.h"

#include <chrono>
#include <exception>
#include <memory>

#include "app/lab/roofline/instruction_counts.h"
#include "app/lab/roofline/roofline.h"
#include "app/text/console.h"
#include "app/window/session.h"
#include "app/window/window_feature.h"
#include "compute/core/threads.h"
#include "compute/cuda/nvml.h"

namespace orrery {
namespace {

constexpr std::chrono::seconds clock_period{1};

std::optional<double> clock_of(int device) {
  try {
    const auto state = cuda::gpu_state(device);
    return state ? state->clock_mhz : std::nullopt;
  } catch (const std::exception&) {  // a CUDA error of an earlier kernel, reported elsewhere
    return std::nullopt;
  }
}

/// Returns whether facts may be measured: the panel is open, and no other measurement is running.
bool may_start(const ViewStatus& view) {
  return view.panel && !view.measuring();
}

}  // namespace

void MachineFacts::describe(ViewStatus& view, const Status& status) {
  view.instructions_per_interaction.reset();
  view.mufu_per_interaction.reset();
  view.instructions_double = false;
  view.instructions_reason = "the kernel runs on the CPU";
  if (status.card && may_start(view) && !peak_rates_) {
    peak_rates_ = measure_machine_peak_rates(backends_);
    if (!peak_rates_->peak_rates) {
      console::complain("the GPU's peak rates were not measured: " + peak_rates_->reason);
    }
  }
  view.peak_rates = peak_rates_ ? peak_rates_->peak_rates : std::nullopt;
  view.clock_mhz.reset();
  if (!status.card) return;
  describe_clock(view);
  const KernelInfo& kernel = *status.kernel;
  if (kernel.is_tree) {
    view.instructions_reason = no_instructions_of_a_tree;
    return;
  }
  describe_instructions(view, *status.card, kernel.pairs_per_interaction);
}

/// Reads the clock on a thread, because the driver may take milliseconds to answer.
void MachineFacts::describe_clock(ViewStatus& view) {
  const auto now = std::chrono::steady_clock::now();
  if (clock_.valid() && is_ready(clock_)) {
    clock_mhz_ = clock_.get();
  }
  if (peak_rates_ && peak_rates_->peak_rates && may_start(view) && !clock_.valid() &&
      now - asked_clock_ >= clock_period) {
    asked_clock_ = now;
    clock_ = std::async(std::launch::async, clock_of, peak_rates_->device);
  }
  view.clock_mhz = clock_mhz_;
}

/// Counts one function at a time, so that quick switches between kernels do not start many processes.
void MachineFacts::describe_instructions(ViewStatus& view, const KernelCard& card, double pairs_per_interaction) {
  if (in_flight_ && is_ready(in_flight_->counts)) {
    counted_[in_flight_->function] = in_flight_->counts.get();
    in_flight_.reset();
  }
  if (const auto known = counted_.find(card.name); known != counted_.end()) {
    const InteractionCost cost = known->second.cost(pairs_per_interaction);
    view.instructions_per_interaction = cost.instructions;
    view.mufu_per_interaction = cost.mufu;
    view.instructions_double = cost.double_precision;
    view.instructions_reason = known->second.reason;
    return;
  }
  view.instructions_reason = view.measuring()
                                 ? std::string{"they are counted once "} + view.measurement->user->name + " has ended"
                                 : "they are being counted";
  if (in_flight_ || !may_start(view)) return;
  in_flight_ = Count{card.name, std::async(std::launch::async, counts_in_this_program, card.name, card.architecture,
                                           stop_.get_token())};
}

namespace {

/// Finds the facts for the panels and the report.
class RooflineWindow final : public WindowFeature {
 public:
  explicit RooflineWindow(Session& session) : session_{session}, facts_{session.backends} {}

  void follow() override {
    facts_.describe(session_.view, session_.lane.status());
    session_.view.features.of<std::optional<MachinePeakRates>>() = facts_.peak_rates();
  }

 private:
  Session& session_;
  MachineFacts facts_;
};

}  // namespace

std::unique_ptr<WindowFeature> make_roofline(Session& session) {
  return std::make_unique<RooflineWindow>(session);
}

}  // namespace orrery
