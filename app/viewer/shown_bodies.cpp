#include "app/viewer/shown_bodies.h"

#include <fmt/format.h>

#include <exception>
#include <stdexcept>
#include <utility>

#include "compute/core/failure_text.h"
#include "compute/core/format_count.h"
#include "compute/integrators/finite.h"

namespace orrery {
namespace {

/// At most `most`: every second body, or every third, and so on.
void thin_out(Bodies& bodies, int most) {
  const int all = bodies.count();
  const int distance = (all + most - 1) / most;
  Bodies some;
  for (int i = 0; i < all; i += distance) {
    some.positions.push_back(bodies.positions[static_cast<std::size_t>(i)]);
    some.velocities.push_back(bodies.velocities[static_cast<std::size_t>(i)]);
  }
  bodies = std::move(some);
}

/// Leaves out what a check cannot have, and says so.
void prepare_for_check(ShownBodies::Copy& copy, int most) {
  Bodies& bodies = copy.snapshot->bodies;
  const int all = bodies.count();
  if (const int body = first_not_finite(bodies.positions, bodies.velocities); body >= 0) {
    copy.remark = fmt::format("without the bodies that are shown: body {} is not finite", body);
    copy.snapshot.reset();
  } else if (all > most) {
    thin_out(bodies, most);
    copy.snapshot->properties = {};
    copy.remark = fmt::format("with {} of the {} that are shown", format_count(bodies.count()), counted_bodies(all));
  }
}

}  // namespace

std::vector<std::string> law_arguments(const Law& law) {
  std::vector<std::string> words{"--law", law_info(law.id).id, "--softening", fmt::format("{}", law.softening)};
  if (law.id == LawId::attract_repel) words.insert(words.end(), {"--repulsion", fmt::format("{}", law.repulsion)});
  return words;
}

std::vector<std::string> law_constants(const Law& law) {
  return {"--softening", fmt::format("{}", law.softening), "--repulsion", fmt::format("{}", law.repulsion)};
}

std::optional<ShownBodies::Copy> ShownBodies::ask(const std::function<bool()>& cancelled) {
  std::optional<Copy> copy = wait_for_copy(cancelled);
  if (copy) prepare_for_check(*copy, most);
  return copy;
}

std::optional<ShownBodies::Copy> ShownBodies::wait_for_copy(const std::function<bool()>& cancelled) {
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
  const Status& status = simulation.status();
  const bool cancels = status.backend == Backend::cpu && std::chrono::steady_clock::now() - *asked_ >= patience;
  if (!simulation.idle() && !cancels) return;
  asked_.reset();
  try {
    copy_ = Copy{simulation.snapshot(), status.law, {}};
  } catch (const std::exception& error) {  // a run whose GPU context is lost has no bodies
    error_ = failure_text(error);
  }
  answered_.notify_one();
}

}  // namespace orrery
