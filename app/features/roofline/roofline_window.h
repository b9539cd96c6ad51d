#pragma once

#include <chrono>
#include <future>
#include <map>
#include <optional>
#include <stop_token>
#include <string>

#include "app/lab/roofline/instruction_counts.h"
#include "app/lab/roofline/roofline.h"
#include "app/ui_state/status.h"
#include "compute/sim/backends.h"

namespace orrery {

/// Finds facts about the GPU and the running kernel's machine code. The clock is read repeatedly. The other facts are
/// found once, when a CUDA kernel first runs with the panel open.
class MachineFacts {
 public:
  /// Makes an object without facts. `backends` must outlive it.
  explicit MachineFacts(const Backends& backends) : backends_{backends} {}
  MachineFacts(const MachineFacts&) = delete;
  MachineFacts& operator=(const MachineFacts&) = delete;
  ~MachineFacts() { stop_.request_stop(); }

  /// Fills in peak rates, clock and instruction counts. Measuring the peak rates blocks for about 70 ms. A thread
  /// counts the instructions; they appear some frames later. Call once per frame.
  void describe(ViewStatus& view, const Status& status);

  /// Returns the peak rates of the GPU; none: not measured yet, or no GPU.
  const std::optional<MachinePeakRates>& peak_rates() const { return peak_rates_; }

 private:
  void describe_clock(ViewStatus& view);
  void describe_instructions(ViewStatus& view, const KernelCard& card, double pairs_per_interaction);

  struct Count {
    std::string function;
    std::future<InstructionCounts> counts;
  };

  const Backends& backends_;
  std::optional<MachinePeakRates> peak_rates_;
  std::optional<double> clock_mhz_;
  std::chrono::steady_clock::time_point asked_clock_{};
  std::future<std::optional<double>> clock_;
  std::map<std::string, InstructionCounts> counted_;  // by function
  std::stop_source stop_;
  std::optional<Count> in_flight_;  // last member: destroyed first, after the destructor's stop request
};

}  // namespace orrery
