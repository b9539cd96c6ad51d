#pragma once

#include <chrono>
#include <future>
#include <map>
#include <optional>
#include <stop_token>
#include <string>

#include "app/lab/roofline/instruction_counts.h"
#include "app/ui_state/status.h"

namespace orrery {

/// What panels show of the GPU and of the running kernel's machine code. Each fact but the clock is found out once,
/// when a CUDA kernel first runs with the panel open.
class MachineFacts {
 public:
  MachineFacts() = default;
  MachineFacts(const MachineFacts&) = delete;
  MachineFacts& operator=(const MachineFacts&) = delete;
  ~MachineFacts() { stop_.request_stop(); }

  /// Fills in peak rates, clock and instructions; once per frame. Measuring the peak rates takes some 50 ms, and the
  /// GPU does nothing else then. A thread counts the instructions; they are known some frames later.
  void describe(ViewStatus& view, const Status& status);

 private:
  void describe_clock(ViewStatus& view);
  void describe_instructions(ViewStatus& view, const KernelCard& card, double pairs_per_interaction);

  struct Count {
    std::string function;
    std::future<InstructionCounts> counts;
  };

  std::optional<Ceilings> ceilings_;
  bool ceilings_tried_ = false;
  std::optional<int> device_;  // of the ceilings
  std::optional<double> clock_mhz_;
  std::chrono::steady_clock::time_point asked_clock_{};
  std::future<std::optional<double>> clock_;
  std::map<std::string, InstructionCounts> counted_;  // by function
  std::stop_source stop_;
  std::optional<Count> under_way_;  // last: it ends by stop_
};

}  // namespace orrery
