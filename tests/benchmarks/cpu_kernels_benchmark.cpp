// How fast the CPU kernels are on one core, and how near cpu-simd comes to what the core could issue. Every figure is
// the median of repetitions that take turns with the others', so that a changing clock meets all of them alike.
#include <benchmark/benchmark.h>
#include <hwy/targets.h>
#include <sched.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "compute/kernels/kernel.h"
#include "compute/kernels/vector_units.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/random_ball.h"

namespace orrery {
namespace {

constexpr int count = 16384;

void choose(std::int64_t target) {
  hwy::SetSupportedTargetsForTest(target);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

void measure_fma(benchmark::State& state, std::int64_t target) {
  choose(target);
  double per_s = 0;
  for (auto _ : state) per_s = measure_fma_limit(1).per_s;
  state.counters["rate"] = per_s;
}

void measure_kernel(benchmark::State& state, const char* id, std::map<std::string, std::string> values,
                    std::int64_t target) {
  choose(target);
  const Bodies bodies = test::random_ball(count);
  std::vector<Vec4> accelerations(count);
  const KernelInfo& info = *test::find_kernel(id);
  Settings settings{info};
  for (const auto& [name, value] : values) settings.set(name, value);
  const auto kernel = test::backends().make_kernel(info, settings);
  const ForceArgs args{.bodies = bodies.positions.data(),
                       .count = count,
                       .masses = mass_range(bodies.positions),
                       .law = {},
                       .epilogue = {.accelerations = accelerations.data()}};
  for (auto _ : state) kernel->evaluate(args);
  state.SetLabel(kernel->chosen(count, args.masses));
  state.counters["rate"] =
      benchmark::Counter(kernel->interactions(count), benchmark::Counter::kIsIterationInvariantRate);
}

/// Prints as usual, and keeps the median rate of each benchmark.
class Medians final : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      if (run.aggregate_name == "median") rates[run.run_name.function_name] = run.counters.at("rate");
    }
  }
  std::map<std::string, double> rates;
};

std::string fma_name(std::int64_t target) {
  return std::string{"fma/"} + hwy::TargetName(target);
}
std::string simd_name(std::int64_t target, const char* rows) {
  return std::string{"cpu-simd/"} + hwy::TargetName(target) + "/rows=" + rows;
}

void pin_to_this_core() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) std::fprintf(stderr, "cannot pin to one core; figures may vary\n");
}

int run(int argc, char** argv) {
  pin_to_this_core();
  std::string repetitions = "--benchmark_repetitions=9", interleaved = "--benchmark_enable_random_interleaving=true",
              aggregates = "--benchmark_report_aggregates_only=true", shortest = "--benchmark_min_time=0.3";
  std::vector<char*> arguments{argv[0], repetitions.data(), interleaved.data(), aggregates.data(), shortest.data()};
  arguments.insert(arguments.end(), argv + 1, argv + argc);  // so that the command line has the last word
  int argument_count = static_cast<int>(arguments.size());
  benchmark::Initialize(&argument_count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(argument_count, arguments.data())) return 2;

  std::vector<std::int64_t> targets;
  for (const std::int64_t target : {std::int64_t{HWY_AVX3}, std::int64_t{HWY_AVX2}}) {
    if (hwy::SupportedTargets() & target) targets.push_back(target);
  }
  const auto rows = test::find_kernel("cpu-simd")->tunables[1].values;
  const auto add = [](const std::string& name, auto function, auto... values) {
    benchmark::RegisterBenchmark(name.c_str(), function, values...)->Unit(benchmark::kMillisecond);
  };
  using Values = std::map<std::string, std::string>;
  add("cpu-serial", measure_kernel, "cpu-serial", Values{}, 0);
  add("cpu-openmp", measure_kernel, "cpu-openmp", Values{{"threads", "1"}}, 0);
  for (const std::int64_t target : targets) {
    add(fma_name(target), measure_fma, target);
    for (const char* value : rows) {
      add(simd_name(target, value), measure_kernel, "cpu-simd", Values{{"threads", "1"}, {"rows", value}}, target);
    }
  }

  Medians medians;
  benchmark::RunSpecifiedBenchmarks(&medians);
  const auto& rates = medians.rates;
  if (!rates.contains("cpu-serial")) return 0;  // filtered out
  const double serial = rates.at("cpu-serial");
  std::printf("\n%d bodies, one thread, gravity; medians\n%-24s %12s %10s %12s\n", count, "", "G pairs/s", "x serial",
              "of FMA limit");
  const auto print = [&](const std::string& name, double limit) {
    if (!rates.contains(name)) return;
    const double rate = rates.at(name);
    std::printf("%-24s %12.3f %10.2f", name.c_str(), rate * 1e-9, rate / serial);
    if (limit > 0) std::printf(" %11.1f%%", 100 * rate / limit);
    std::printf("\n");
  };
  print("cpu-serial", 0);
  print("cpu-openmp", 0);
  for (const std::int64_t target : targets) {
    if (!rates.contains(fma_name(target))) continue;
    const double fma_rate = rates.at(fma_name(target)), limit = fma_rate / simd_arithmetic.gravity;
    for (const char* value : rows) print(simd_name(target, value), limit);
    std::printf("%-24s %12.3f G FMA/s = %.3f G pairs/s at %g instructions a vector of pairs\n",
                fma_name(target).c_str(), fma_rate * 1e-9, limit * 1e-9, simd_arithmetic.gravity);
  }
  return 0;
}

}  // namespace
}  // namespace orrery

int main(int argc, char** argv) {
  return orrery::run(argc, argv);
}
