#include "app/viewer/position_bridge.h"

#include <chrono>

namespace orrery {

void PositionBridge::resize(int count) {
  if (count == count_) return;
  shared_.reset();
  positions_ = {}, velocities_ = {};  // first the old memory, then the new
  count_ = 0;
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(Vec4);
  positions_ = render::Buffer{bytes};
  velocities_ = render::Buffer{bytes};
  count_ = count;
}

/// Shares the buffers when CUDA first wants them: with CPU kernels they never need to be.
DeviceBodies PositionBridge::map(CUstream_st* stream) {
  if (!shared_) shared_.emplace(positions_.id(), velocities_.id());
  return shared_->map(stream);
}

void PositionBridge::unmap(CUstream_st* stream) {
  shared_->unmap(stream);
}

Interop PositionBridge::mode(Backend backend) const {
  if (backend == Backend::cpu) return Interop::host;
  return sharing_.possible ? Interop::mapped : Interop::staged;
}

std::string PositionBridge::reason(Backend backend) const {
  switch (mode(backend)) {
    case Interop::mapped:
      return {};
    case Interop::staged:
      return sharing_.reason + ". " + sharing_.cure;
    case Interop::host:
      break;
  }
  return sharing_.possible ? "a CPU kernel runs: its bodies are copied to the GPU. CUDA kernels need no copy"
                           : "a CPU kernel runs: its bodies are copied to be drawn";
}

double PositionBridge::copy(Simulation& simulation, const Status& status) {
  if (mode(status.backend) == Interop::mapped) return 0;
  const auto begin = std::chrono::steady_clock::now();
  resize(status.count);
  const auto count = static_cast<std::size_t>(status.count);
  if (staging_.values().size() != 2 * count) {
    staging_ = {};
    staging_ = StagingArray{2 * count};
  }
  const std::span<Vec4> positions = staging_.values().first(count), velocities = staging_.values().last(count);
  simulation.copy_drawn(positions, velocities);
  positions_.upload(std::as_bytes(positions));
  velocities_.upload(std::as_bytes(velocities));
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

Bodies PositionBridge::read_drawn() const {
  const auto count = static_cast<std::size_t>(count_);
  Bodies bodies{std::vector<Vec4>(count), std::vector<Vec4>(count)};
  positions_.download(std::as_writable_bytes(std::span{bodies.positions}));
  velocities_.download(std::as_writable_bytes(std::span{bodies.velocities}));
  return bodies;
}

}  // namespace orrery
