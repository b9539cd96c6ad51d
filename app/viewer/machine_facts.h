#pragma once

#include <chrono>
#include <future>
#include <map>
#include <optional>
#include <stop_token>
#include <string>

#include "app/lab/roofline/slots.h"
#include "app/ui_state/status.h"
#include "compute/sim/backends.h"

namespace orrery {

/// What panels show of the GPU and of the running kernel's machine code. Each fact but the clock is found out once,
/// when a CUDA kernel first runs with the panel open.
class MachineFacts {
 public:
  /// `backends` must outlive this.
  explicit MachineFacts(const Backends& backends) : backends_{backends} {}
  MachineFacts(const MachineFacts&) = delete;
  MachineFacts& operator=(const MachineFacts&) = delete;
  ~MachineFacts() { stop_.request_stop(); }

  /// Fills in peak rates, clock and slots; once a frame. Measuring the peak rates lasts some 50 ms, and the GPU does
  /// nothing else then; slots are counted by a thread and known some frames later.
  void describe(ViewStatus& view, const Status& status);

 private:
  void describe_clock(ViewStatus& view);
  void describe_slots(ViewStatus& view, const KernelCard& card);

  struct Count {
    std::string function;
    std::future<Slots> slots;
  };

  const Backends& backends_;
  std::optional<PeakRates> peak_rates_;
  bool peak_rates_tried_ = false;
  std::optional<int> device_;  // of the peak rates
  std::optional<double> clock_mhz_;
  std::chrono::steady_clock::time_point asked_clock_{};
  std::future<std::optional<double>> clock_;
  std::map<std::string, Slots> slots_;  // by function
  std::stop_source stop_;
  std::optional<Count> under_way_;  // last: it ends by stop_
};

}  // namespace orrery
