#include "app/viewer/shown_bodies.h"

#include <fmt/format.h>

#include <exception>
#include <stdexcept>
#include <utility>

#include "compute/integrators/finite.h"

namespace orrery {

std::vector<std::string> law_arguments(const Law& law) {
  std::vector<std::string> words{"--law", law_info(law.id).id, "--softening", fmt::format("{}", law.softening)};
  if (law.id == LawId::attract_repel) words.insert(words.end(), {"--repulsion", fmt::format("{}", law.repulsion)});
  return words;
}

std::optional<ShownBodies::Copy> ShownBodies::ask(const std::function<bool()>& cancelled) {
  constexpr std::chrono::milliseconds look{5};
  std::unique_lock lock{mutex_};
  copy_.reset();
  error_.clear();
  asked_ = std::chrono::steady_clock::now();
  while (!answered_.wait_for(lock, look, [this] { return !asked_; })) {
    if (!cancelled()) continue;
    asked_.reset();
    return std::nullopt;
  }
  if (!error_.empty()) throw std::runtime_error(error_);
  return std::exchange(copy_, std::nullopt);
}

void ShownBodies::answer(Simulation& simulation) {
  constexpr std::chrono::seconds patience{1};
  const std::lock_guard lock{mutex_};
  if (!asked_ || simulation.measuring()) return;
  if (!simulation.idle() && std::chrono::steady_clock::now() - *asked_ < patience) return;
  asked_.reset();
  try {
    const Status& status = simulation.status();
    if (status.count <= most) copy_ = Copy{simulation.snapshot(), status.law};
    if (copy_ && first_not_finite(copy_->snapshot.bodies.positions, copy_->snapshot.bodies.velocities) >= 0) {
      copy_.reset();
    }
  } catch (const std::exception& error) {  // a run whose GPU context is lost has no bodies
    error_ = error.what();
  }
  answered_.notify_one();
}

}  // namespace orrery
