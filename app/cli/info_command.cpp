#include "app/cli/info_command.h"

#include <fmt/format.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/lab/machine_state.h"
#include "app/lab/metadata.h"
#include "app/lab/roofline/machine_peak_rates.h"
#include "app/lab/tuning/choices_report.h"
#include "app/text/console.h"
#include "app/text/format_count.h"
#include "app/text/table.h"
#include "compute/kernels/parts/simd_name.h"
#include "orrery_version.h"

#if ORRERY_HAVE_CUDA
#include "compute/cuda/device.h"
#endif

namespace orrery {
namespace {

/// The best of Highway's targets that this processor has: its lowest bit.
const char* simd_target() {
  const auto targets = static_cast<std::uint64_t>(hwy::SupportedTargets());
  return simd_name(static_cast<std::int64_t>(targets & (~targets + 1)));
}

Json cpu_json(const Backends& backends) {
  return {{"name", backends.status(Backend::cpu).device},
          {"hardware_threads", std::thread::hardware_concurrency()},
          {"simd", simd_target()}};
}

/// Measures `peak_rates` where there is a device.
Json cuda_json(const Backends& backends, [[maybe_unused]] std::optional<MachinePeakRates>& peak_rates) {
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
  json["peak_rates"] = peak_rates.emplace(measure_machine_peak_rates(backends)).json();
#endif
  return json;
}

Json gl_json(const GlReport& gl) {
  return {{"renderer", gl.renderer}, {"version", gl.version},
          {"problem", gl.problem},   {"same_gpu_as_cuda", gl.same_gpu ? Json(*gl.same_gpu) : Json(nullptr)},
          {"interop", gl.interop},   {"interop_reason", gl.interop_reason},
          {"cure", gl.cure}};
}

/// "SMs at 1980 MHz now, memory at 2619 MHz, 482 W, 61 C, slowed by power cap", or why that is not known.
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

void add_cuda(Table& table, const Json& cuda, const std::optional<MachinePeakRates>& peak_rates) {
  if (!cuda["available"].get<bool>()) {
    table.add({"CUDA", fmt::format("unavailable: {}", cuda["reason"].get<std::string>())});
  }
  if (!cuda.contains("runtime")) return;
  table.add({"CUDA", fmt::format("runtime {}, driver {}, built for {}", cuda["runtime"].get<std::string>(),
                                 cuda["driver"].is_null() ? "none" : cuda["driver"].get<std::string>(),
                                 cuda["built_for"].get<std::string>())});
  for (const Json& device : cuda["devices"]) {
    table.add({"", fmt::format("{}: {}, compute capability {}, {} SMs at {} MHz, {} GiB", device["index"].get<int>(),
                               device["name"].get<std::string>(), device["compute_capability"].get<std::string>(),
                               device["multiprocessors"].get<int>(), format_count(device["clock_mhz"].get<int>()),
                               device["memory_gib"].get<double>())});
    table.add({"", state_text(device["state"])});
  }
  if (peak_rates) table.add({"Peak rates", peak_rates->text()});
}

/// `no_cuda` is why there is no CUDA, which the table has already.
void add_gl(Table& table, const GlReport& gl, const std::string& no_cuda) {
  const auto is_new = [&](const std::string& text) {
    return !text.empty() && (no_cuda.empty() || text.find(no_cuda) == std::string::npos);
  };
  table.add({"OpenGL", gl.problem.empty() ? fmt::format("{}, {}", gl.version, gl.renderer)
                                          : fmt::format("unavailable: {}", gl.problem)});
  if (gl.same_gpu) table.add({"", fmt::format("CUDA and OpenGL {} one GPU", *gl.same_gpu ? "are" : "are not")});
  if (!gl.interop.empty()) {
    table.add({"Interop", gl.interop + (is_new(gl.interop_reason) ? ": " + gl.interop_reason : "")});
  }
  if (is_new(gl.cure)) table.add({"Cure", gl.cure});
}

}  // namespace

int run_info(const Backends& backends, const InfoOptions& options, const GlReport& gl) {
  std::optional<MachinePeakRates> peak_rates;
  const Json cpu = cpu_json(backends), cuda = cuda_json(backends, peak_rates), choices = choices_json(backends);
  if (options.json) {
    const Json all{{"program", "orrery"}, {"version", version}, {"git", git_id},     {"build_flags", build_flags},
                   {"cpu", cpu},          {"cuda", cuda},       {"gl", gl_json(gl)}, {"auto", choices}};
    console::print("{}\n", json_text(all, 2));
    return 0;
  }
  Table table{"lt", {"", ""}};
  table.add({"Orrery", fmt::format("{} ({}), built with {}", version, git_id, build_flags)});
  table.add({"CPU", fmt::format("{}, {} hardware threads, SIMD {}", cpu["name"].get<std::string>(),
                                cpu["hardware_threads"].get<int>(), cpu["simd"].get<std::string>())});
  add_cuda(table, cuda, peak_rates);
  add_gl(table, gl, cuda["reason"].get<std::string>());
  std::string label = "Auto";
  for (const std::string& line : choices_lines(choices)) table.add({std::exchange(label, ""), line});
  console::print("{}", table.text(stdout_style(options.table)));
  return 0;
}

}  // namespace orrery
