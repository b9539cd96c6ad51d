// The facts of a report about the run and the machine.
#include "app/features/report/facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#include "app/lab/metadata.h"
#include "compute/core/text.h"
#include "compute/kernels/vector_units.h"
#include "compute/ranks/communicator.h"
#include "orrery_version.h"
#if ORRERY_HAVE_CUDA
#include "compute/cuda/device.h"
#endif

namespace orrery {
namespace {

std::string number_text(const Json& value) {
  return value.is_null() ? "depends on the number of bodies" : fmt::format("{:.6g}", value.get<double>());
}

std::vector<std::int64_t> counts_of(const Json& simulation) {
  const Json& n = simulation.at("n");
  return n.is_array() ? n.get<std::vector<std::int64_t>>() : std::vector{n.get<std::int64_t>()};
}

Json cpu_json(const Backends& backends, const std::optional<CpuPeakRates>& peak_rates) {
  Json json{{"name", backends.status(Backend::cpu).device},
            {"hardware_threads", std::thread::hardware_concurrency()},
            {"simd", best_simd_name()}};
  if (peak_rates) json["peak_rates"] = peak_rates->json();
  return json;
}

Json cuda_json(const Backends& backends, [[maybe_unused]] const std::optional<MachinePeakRates>& peak_rates) {
  const BackendStatus& status = backends.status(Backend::cuda);
  Json json{{"available", status.available}, {"reason", status.reason}, {"built_for", cuda_architectures}};
#if ORRERY_HAVE_CUDA
  json["runtime"] = cuda::version_text(cuda::runtime_version());
  const std::string driver = cuda::driver_text();
  json["driver"] = driver.empty() ? Json(nullptr) : Json(driver);
  json["devices"] = Json::array();
  if (!status.available) return json;
  for (const cuda::DeviceInfo& device : cuda::devices()) {
    json["devices"].push_back(
        {{"index", device.ordinal},
         {"name", device.name},
         {"compute_capability", fmt::format("{}.{}", device.major, device.minor)},
         {"multiprocessors", device.multiprocessors},
         {"clock_mhz", device.clock_khz / 1000},
         {"memory_gib", std::round(static_cast<double>(device.memory_bytes) / 1073741824.0 * 10) / 10},
         {"state", gpu_state_json(device.ordinal)}});
  }
  if (peak_rates) json["peak_rates"] = peak_rates->json();
#endif
  return json;
}

Json gl_json(const GlReport& gl) {
  return {{"renderer", gl.renderer},
          {"version", gl.version},
          {"problem", gl.problem},
          {"same_gpu_as_cuda", gl.same_gpu ? Json(*gl.same_gpu) : Json(nullptr)},
          {"interop", gl.interop},
          {"interop_reason", gl.interop_reason},
          {"cure", gl.cure},
          {"window_renderer", gl.window_renderer},
          {"window_problem", gl.window_problem}};
}

/// Returns "SMs at 1980 MHz now, memory at 2619 MHz, 482 W, 61 C, slowed by power cap", or why the state is unknown.
std::string state_text(const Json& state) {
  if (state.contains("reason")) return fmt::format("state unknown: {}", state["reason"].get<std::string>());
  std::vector<std::string> parts;
  const auto add = [&](const char* name, const char* shape) {
    if (!state[name].is_null()) parts.push_back(fmt::format(fmt::runtime(shape), state[name].get<double>()));
  };
  add("clock_mhz", "SMs at {:.0f} MHz now");
  add("memory_clock_mhz", "memory at {:.0f} MHz");
  add("power_w", "{:.0f} W");
  add("temperature_c", "{:.0f} C");
  if (!state["slowed_by"].empty()) {
    parts.push_back(fmt::format("slowed by {}", fmt::join(state["slowed_by"].get<std::vector<std::string>>(), ", ")));
  }
  return parts.empty() ? "state unknown: the driver does not report it" : fmt::format("{}", fmt::join(parts, ", "));
}

void add_cuda(ReportFacts& facts, const Json& cuda, const std::optional<MachinePeakRates>& peak_rates) {
  if (!cuda["available"].get<bool>()) {
    facts.push_back({"CUDA", fmt::format("unavailable: {}", cuda["reason"].get<std::string>())});
  }
  if (!cuda.contains("runtime")) return;
  facts.push_back({"CUDA", fmt::format("runtime {}, driver {}, built for {}", cuda["runtime"].get<std::string>(),
                                       cuda["driver"].is_null() ? "none" : cuda["driver"].get<std::string>(),
                                       cuda["built_for"].get<std::string>())});
  for (const Json& device : cuda["devices"]) {
    facts.push_back(
        {"", fmt::format("{}: {}, compute capability {}, {} SMs at {} MHz, {} GiB", device["index"].get<int>(),
                         device["name"].get<std::string>(), device["compute_capability"].get<std::string>(),
                         device["multiprocessors"].get<int>(), format_count(device["clock_mhz"].get<int>()),
                         device["memory_gib"].get<double>())});
    facts.push_back({"", state_text(device["state"])});
  }
  if (peak_rates && cuda["available"].get<bool>()) facts.push_back({"Peak rates", peak_rates->text()});
}

/// Adds the facts about OpenGL. Leaves out a reason that repeats `no_cuda`, the reason why there is no CUDA.
void add_gl(ReportFacts& facts, const GlReport& gl, const std::string& no_cuda) {
  const auto is_new = [&](const std::string& text) {
    return !text.empty() && (no_cuda.empty() || text.find(no_cuda) == std::string::npos);
  };
  facts.push_back({"OpenGL", gl.problem.empty() ? fmt::format("{}, {}", gl.version, gl.renderer)
                                                : fmt::format("unavailable: {}", gl.problem)});
  if (gl.same_gpu) facts.push_back({"", fmt::format("CUDA and OpenGL {} one GPU", *gl.same_gpu ? "are" : "are not")});
  if (!gl.interop.empty()) {
    facts.push_back({"Interop", gl.interop + (is_new(gl.interop_reason) ? ": " + gl.interop_reason : "")});
  }
  if (is_new(gl.cure)) facts.push_back({"Cure", gl.cure});
}

}  // namespace

ReportFacts run_facts(const Json& simulation) {
  std::vector<std::string> counts;
  for (const std::int64_t count : counts_of(simulation)) counts.push_back(format_count(count));
  ReportFacts facts{{"Scene", simulation.at("scene").get<std::string>()},
                    {"Bodies", fmt::format("{}", fmt::join(counts, "; "))}};
  if (const Json& seed = simulation.at("seed"); !seed.is_null()) {
    facts.push_back({"Seed", fmt::format("{}", seed.get<std::uint64_t>())});
  }
  facts.push_back({"Law", simulation.at("law").get<std::string>()});
  facts.push_back({"Softening length", number_text(simulation.at("softening"))});
  for (const auto& [key, name] : {std::pair{"repulsion", "Repulsion H"}, std::pair{"drag", "Drag D"}}) {
    if (simulation.contains(key)) facts.push_back({name, number_text(simulation.at(key))});
  }
  facts.push_back({"Integrator", simulation.at("integrator").get<std::string>()});
  facts.push_back({"Time step", number_text(simulation.at("dt"))});
  if (simulation.contains("digits")) facts.push_back({"Digits", simulation.at("digits")});
  if (simulation.contains("eta")) facts.push_back({"Accuracy eta of block steps", number_text(simulation.at("eta"))});
  facts.push_back({"Units", "lengths, times and masses in units in which G = 1"});
  return facts;
}

std::string run_title(const Json& simulation) {
  const std::vector<std::int64_t> counts = counts_of(simulation);
  const auto [least, most] = std::ranges::minmax(counts);
  const std::string scene = simulation.at("scene").get<std::string>();
  if (least == most) return fmt::format("{}, {}", scene, counted_bodies(least));
  return fmt::format("{}, {} to {}", scene, format_count(least), counted_bodies(most));
}

std::string made_words(const Json& machine) {
  const std::string date = machine.at("date").get<std::string>();  // 2026-11-23T03:15:27Z
  const Json& gpu = machine.at("gpu");
  return fmt::format("Made on {} at {} UTC by Orrery {} on {}{}.", date.substr(0, 10), date.substr(11, 8),
                     machine.at("version").get<std::string>(), machine.at("cpu").get<std::string>(),
                     gpu.is_string() ? " with " + gpu.get<std::string>() : "");
}

MachineReport machine_report(const Backends& backends, const GlReport& gl,
                             const std::optional<MachinePeakRates>& peak_rates,
                             const std::optional<CpuPeakRates>& cpu_peak_rates) {
  MachineReport report{.cpu = cpu_json(backends, cpu_peak_rates),
                       .cuda = cuda_json(backends, peak_rates),
                       .gl = gl_json(gl),
                       .mpi = mpi_library()};
  report.facts = {
      {"Orrery", fmt::format("{} ({}), built with {}", version, git_id, build_flags)},
      {"CPU", fmt::format("{}, {} hardware threads, SIMD {}", report.cpu["name"].get<std::string>(),
                          report.cpu["hardware_threads"].get<int>(), report.cpu["simd"].get<std::string>())}};
  if (cpu_peak_rates) report.facts.push_back({"", cpu_peak_rates->text()});
  add_cuda(report.facts, report.cuda, peak_rates);
  add_gl(report.facts, gl, report.cuda["reason"].get<std::string>());
  const std::string ranks = backends.ranks() > 1 ? fmt::format(", {} ranks", backends.ranks()) : "";
  report.facts.push_back({"MPI", report.mpi.empty() ? "not in this build" : report.mpi + ranks});
  return report;
}

}  // namespace orrery
