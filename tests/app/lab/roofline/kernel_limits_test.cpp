#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "app/lab/metadata.h"
#include "app/lab/roofline/roofline.h"
#include "tests/compute/support/backends.h"

namespace orrery {
namespace {

const MachinePeakRates known{.device = 0,
                             .peak_rates = PeakRates{.fma_per_s = 4e9, .rsqrt_per_s = 1e9, .clock_mhz = 1000}};

/// 1e8 interactions a second.
Measurement entry(const char* function, double clock_mhz) {
  const KernelPtr kernel = test::find_kernel("cpu-serial");  // every build has it; one pair is one interaction
  Measurement entry = planned({kernel, Settings{*kernel}}, 1000);
  entry.step_ms = {.median = 10};
  entry.interactions_per_s = 1e8;
  entry.card = KernelCard{.name = function, .registers = 77, .shared_bytes = 4096, .block = 64, .blocks = 16};
  entry.machine = std::make_shared<const MachineStates>(
      MachineStates{.before = {}, .during = {{"clock_mhz", clock_mhz}}, .after = {}});
  return entry;
}

InstructionCounts ten_and_two(const KernelCard&) {
  return {.per_pair = 10, .mufu_per_pair = 2};
}

TEST(KernelLimits, AreSharesAtTheClockInForce) {
  KernelLimits limits{known, ten_and_two};
  const Json full = limits.json(entry("f", 1000));
  EXPECT_EQ(full["instructions_per_interaction"], 10);
  EXPECT_EQ(full["mufu_per_interaction"], 2);
  EXPECT_DOUBLE_EQ(full["issue_share"], 0.25);
  EXPECT_DOUBLE_EQ(full["mufu_share"], 0.2);
  EXPECT_EQ(full["reason"], "");
  const Json half = limits.json(entry("f", 500));
  EXPECT_DOUBLE_EQ(half["issue_share"], 0.5);
  EXPECT_EQ(half["clock_mhz"], 500);
}

TEST(KernelLimits, SayWhyTheyAreNotKnown) {
  const auto expect_unknown = [](KernelLimits limits, const char* reason) {
    const Measurement of = entry("f", 1000);
    const Json json = limits.json(of);
    EXPECT_TRUE(json["issue_share"].is_null() && json["mufu_share"].is_null());
    EXPECT_EQ(json["reason"], reason);
    EXPECT_NE(limits.text({&of, 1}).find(std::string{"cpu-serial: "} + reason), std::string::npos);
  };
  expect_unknown(KernelLimits{known, [](const KernelCard&) { return InstructionCounts{.reason = "no tool"}; }},
                 "no tool");
  expect_unknown(KernelLimits{{.reason = "no GPU"}, ten_and_two}, "peak rates not measured: no GPU");
  expect_unknown(
      KernelLimits{known,
                   [](const KernelCard&) { return InstructionCounts{.per_pair = 10, .double_precision = true}; }},
      "some instructions are in double precision, at another peak rate");
}

TEST(KernelLimits, CountEachFunctionOnce) {
  std::vector<std::string> counted;
  KernelLimits limits{known, [&](const KernelCard& card) {
                        counted.push_back(card.name);
                        return ten_and_two(card);
                      }};
  const std::vector<Measurement> entries{entry("f", 1000), entry("g", 1000), entry("f", 1000)};
  const std::string text = limits.text(entries);
  (void)limits.json(entries[0]);
  EXPECT_EQ(counted, (std::vector<std::string>{"f", "g"}));
  EXPECT_NE(text.find("16 x 64"), std::string::npos) << text;
  EXPECT_NE(text.find("25.0 %"), std::string::npos) << text;
}

TEST(KernelLimits, OfTheCpuAreNone) {
  KernelLimits limits{known, ten_and_two};
  Measurement of = entry("f", 1000);
  of.card.reset();
  EXPECT_TRUE(limits.json(of).is_null());
  EXPECT_NE(limits.text({&of, 1}).find("nothing ran on a GPU"), std::string::npos);
}

}  // namespace
}  // namespace orrery
