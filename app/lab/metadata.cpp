// The conditions of a measurement: the machine, its state and the simulation.
#include "app/lab/metadata.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <string>

#include "compute/kernels/kernel_sharing.h"
#include "orrery_version.h"
#if ORRERY_HAVE_CUDA
#include "compute/cuda/device.h"
#include "compute/cuda/nvml.h"
#endif

namespace orrery {
namespace {

void add_gpu(Json& metadata, [[maybe_unused]] const Backends& backends) {
  for (const char* name : {"gpu", "driver", "cuda_runtime"}) metadata[name] = nullptr;
#if ORRERY_HAVE_CUDA
  if (!backends.device()) return;
  metadata["gpu"] = backends.device()->info().name;
  metadata["driver"] = cuda::driver_text();
  metadata["cuda_runtime"] = cuda::version_text(cuda::runtime_version());
#endif
}

}  // namespace

double decimal(float value) {
  return std::stod(fmt::format("{}", value));
}

Json machine_metadata(const Backends& backends) {
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  Json metadata{{"program", "orrery"},
                {"version", version},
                {"git", git_id},
                {"build_flags", build_flags},
                {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now))},
                {"cpu", backends.status(Backend::cpu).device}};
  add_gpu(metadata, backends);
  if (const KernelSharing* const sharing = backends.kernels().sharing()) metadata["ranks"] = sharing->ranks();
  if (const std::string team = backends.team_words(); !team.empty()) metadata["team"] = team;
  return metadata;
}

void add_simulation(Json& metadata, const Status& status) {
  metadata["scene"] = status.scene_name;
  metadata["n"] = status.count;
  metadata["seed"] = status.scene.file.empty() ? Json(status.scene.seed) : Json(nullptr);
  metadata["integrator"] = status.integrator_id;
  metadata["law"] = law_info(status.law.id).id;
  metadata["dt"] = decimal(status.time_step);
  if (status.block_steps) metadata["eta"] = decimal(status.eta);
  if (status.digits != Digits::single) metadata["digits"] = word_of(status.digits);
  metadata["softening"] = decimal(status.law.softening);
  if (status.law.id == LawId::attract_repel) {
    metadata["repulsion"] = decimal(status.law.repulsion);
    metadata["drag"] = decimal(status.law.drag);
  }
}

void add_simulations(Json& metadata, const Status& first, const std::vector<int>& counts) {
  add_simulation(metadata, first);
  if (counts.size() < 2) return;
  metadata["n"] = counts;
  metadata["dt"] = metadata["softening"] = nullptr;
}

#if ORRERY_HAVE_CUDA

namespace {

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace

Json gpu_state_json(int device) {
  std::string reason;
  const auto state = cuda::gpu_state(device, &reason);
  if (!state) return {{"reason", reason}};
  return {{"clock_mhz", or_null(state->clock_mhz)},
          {"memory_clock_mhz", or_null(state->memory_clock_mhz)},
          {"power_w", or_null(state->power_w)},
          {"temperature_c", or_null(state->temperature_c)},
          {"slowed_by", or_null(state->slowed_by)}};
}

Json machine_state(const Backends& backends) {
  if (!backends.device()) return nullptr;
  try {
    return gpu_state_json(backends.device()->ordinal());
  } catch (const cuda::Error& error) {  // may be an earlier error, left by a failed kernel
    return {{"reason", error.what()}};
  }
}

#else

Json gpu_state_json(int) {
  return {{"reason", "this program was built without CUDA"}};
}

Json machine_state(const Backends&) {
  return nullptr;
}

#endif

}  // namespace orrery
