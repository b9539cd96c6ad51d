#include "app/viewer/position_bridge.h"

namespace orrery {

void PositionBridge::resize(int count) {
  if (count == count_) return;
  shared_.reset();
  buffer_ = {};  // frees the old memory first
  count_ = 0;
  buffer_ = render::Buffer{2 * static_cast<std::size_t>(count) * sizeof(Vec4)};
  count_ = count;
}

/// Shares the buffer when CUDA first needs it: CPU kernels never do.
DeviceBodies PositionBridge::map(CUstream_st* stream) {
  if (!shared_) shared_.emplace(*device_, buffer_.id(), count_);
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
  return sharing_.possible
             ? "A CPU kernel runs: its bodies are copied to the GPU to be drawn. CUDA kernels need no copy."
             : "A CPU kernel runs: its bodies are copied to be drawn.";
}

bool PositionBridge::fetch(Simulation& simulation, const Status& status) {
  if (mode(status.backend) == Interop::mapped) return false;
  const auto count = static_cast<std::size_t>(status.count);
  if (staging_.values().size() != 2 * count) {
    staging_ = {};
    staging_ = StagingArray{device_, 2 * count};
  }
  simulation.copy_drawn(staging_.values().first(count), staging_.values().last(count));
  return true;
}

void PositionBridge::upload() {
  resize(static_cast<int>(staging_.values().size() / 2));
  buffer_.upload(std::as_bytes(staging_.values()));
}

Bodies PositionBridge::read_drawn() const {
  const auto count = static_cast<std::size_t>(count_);
  std::vector<Vec4> both(2 * count);
  buffer_.download(std::as_writable_bytes(std::span{both}));
  const auto middle = both.begin() + count_;
  return {{both.begin(), middle}, {middle, both.end()}};
}

}  // namespace orrery
