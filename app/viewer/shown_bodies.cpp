#include "app/viewer/shown_bodies.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

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
  asked_ = true;
  while (!answered_.wait_for(lock, look, [this] { return !asked_; })) {
    if (!cancelled()) continue;
    asked_ = false;
    return std::nullopt;
  }
  return std::exchange(copy_, std::nullopt);
}

void ShownBodies::answer(Simulation& simulation) {
  const std::lock_guard lock{mutex_};
  if (!asked_ || simulation.measuring()) return;
  asked_ = false;
  const Status& status = simulation.status();
  if (status.count <= most) copy_ = Copy{simulation.snapshot(), status.law};
  answered_.notify_one();
}

}  // namespace orrery
