#include "compute/ranks/rank_bodies.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/threads.h"
#include "compute/devices/load_balance.h"
#include "compute/integrators/integrator.h"
#include "compute/integrators/update.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/kernel_sharing.h"
#include "compute/kernels/rank_device.h"
#include "compute/ranks/protocol.h"

namespace orrery {
namespace {

using Clock = std::chrono::steady_clock;

std::logic_error no_levels() {
  return std::logic_error("bodies that stay on their ranks have neither levels nor jerks");
}

double ms_of(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

/// Returns whether work() succeeded. Drops the cause of a failure: rank 0 then writes all rows alone and reports it.
template <class Work>
bool succeeds(const Work& work) {
  try {
    work();
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

/// A body that migrates to another rank.
struct MovingBody {
  int id;
  Vec4 position, velocity;
};

/// One rank's part of a step: carries out the integrator's operations on the rank's own bodies. Before each evaluation,
/// bodies migrate to the ranks whose domains they are in. If the kernel has no domains, all ranks exchange their
/// positions instead.
class RankStep final : public StepOps {
 public:
  /// State that RankBodies keeps from step to step.
  struct Parts {
    LocalBodies& bodies;
    const MassRange& masses;
    RankArrays& arrays;  ///< see RankBodies::step()
    std::optional<LearnedSizes>& sizes;
    double& ms;
  };
  RankStep(const Parts& parts, const StepOrder& order, ForceKernel& kernel, CollectiveWork& work)
      : parts_{parts}, order_{order}, kernel_{kernel}, work_{work} {}

  void force(bool store, double kick_dt) override {
    if (ended_) return;
    const auto begin = Clock::now();
    ended_ = kernel_.domains() ? !force_of_domains(store, kick_dt) : !force_of_all(store, kick_dt);
    if (ended_) return;
    parts_.bodies.accelerations_current = store;
    ++result_.evaluations;
    result_.force_ms += ms_of(Clock::now() - begin);
  }

  void kick_drift(double kick_dt, double drift_dt) override {
    LocalBodies& bodies = parts_.bodies;
    ++result_.passes;
    bodies.accelerations_current = false;
    work_.attempt([&] {
      const StateArrays arrays{.positions = bodies.positions.data(),
                               .velocities = bodies.velocities.data(),
                               .accelerations = bodies.accelerations.data()};
      const int found = orrery::kick_drift(arrays, bodies.count(), kick_dt, order_.law.effective_drag(), drift_dt);
      if (found >= 0) note_not_finite();
    });
  }

  bool accelerations_current() const override { return parts_.bodies.accelerations_current; }
  int assign_levels(float /*time_step*/) override { throw no_levels(); }
  void force_levels(const Substep& /*now*/) override { throw no_levels(); }
  void kick_drift_levels(const Substep& /*now*/) override { throw no_levels(); }
  HermiteOps& hermite() override { throw no_levels(); }

  /// Checks the bodies once more, and returns the result of the step. Call after the last operation.
  StepResult end() {
    ++result_.passes;
    work_.attempt([&] { note_not_finite(); });
    result_.complete = work_.finish();
    return result_;
  }

 private:
  /// These two evaluate. They return false if a rank failed or was cancelled before the evaluation.
  bool force_of_domains(bool store, double kick_dt) {
    MessageWriter division;
    if (!divide(division)) return false;
    migrate_bodies();
    evaluate(division, store, kick_dt);
    return true;
  }

  bool force_of_all(bool store, double kick_dt) {
    work_.attempt([&] { work_.put_all_for_all(parts_.bodies.positions); });
    if (!work_.exchange()) return false;
    work_.attempt([&] { collect_positions(); });
    if (parts_.bodies.count() > 0) work_.attempt([&] { evaluate_targets(store, kick_dt); });
    return true;
  }

  bool divide(MessageWriter& division) {
    work_.attempt([&] { work_.put_for_all(parts_.ms); });
    if (!work_.exchange()) return false;
    bool moves_borders = false;
    std::vector<Part> parts;
    work_.attempt([&] {
      std::vector<double> ms(static_cast<std::size_t>(work_.size()), parts_.ms);
      work_.for_each_other([&](int rank) { ms[static_cast<std::size_t>(rank)] = work_.from(rank).get<double>(); });
      moves_borders = !parts_.sizes;
      if (moves_borders) {
        parts_.sizes.emplace(work_.size());
      } else {
        moves_borders = parts_.sizes->learn(ms);
      }
      parts = parts_.sizes->parts();
    });
    division = kernel_.domains()->divide_own(parts_.bodies.positions, parts, moves_borders, work_, owners_);
    return true;
  }

  void migrate_bodies() {
    LocalBodies& bodies = parts_.bodies;
    work_.attempt([&] {
      std::vector<std::vector<MovingBody>> leaving(static_cast<std::size_t>(work_.size()));
      for (std::size_t i = 0; i < bodies.ids.size();) {
        const auto owner = static_cast<std::size_t>(owners_[i]);
        if (owners_[i] == work_.rank()) {
          ++i;
          continue;
        }
        leaving[owner].push_back({bodies.ids[i], bodies.positions[i], bodies.velocities[i]});
        const auto fill = [&](auto& array) {  // moves the last body to index i
          array[i] = array.back();
          array.pop_back();
        };
        fill(bodies.ids), fill(bodies.positions), fill(bodies.velocities), fill(owners_);
      }
      work_.for_each_other([&](int rank) { work_.to(rank).put_all(leaving[static_cast<std::size_t>(rank)]); });
    });
    work_.exchange();
    work_.attempt([&] {
      std::vector<MovingBody> arriving;
      work_.for_each_other([&](int rank) {
        MessageReader message = work_.from(rank);
        message.get_all(arriving);
      });
      for (const MovingBody& body : arriving) {
        bodies.ids.push_back(body.id);
        bodies.positions.push_back(body.position);
        bodies.velocities.push_back(body.velocity);
      }
      bodies.accelerations.resize(bodies.ids.size());
    });
  }

  void evaluate(const MessageWriter& division, bool store, double kick_dt) {
    LocalBodies& bodies = parts_.bodies;
    std::uint64_t by_tree = 0;
    const ForceArgs args{.bodies = bodies.positions.data(),
                         .count = bodies.count(),
                         .masses = parts_.masses,
                         .law = order_.law,
                         .epilogue = epilogue_of(store ? &bodies.accelerations : nullptr,
                                                 kick_dt != 0 ? &bodies.velocities : nullptr, kick_dt),
                         .evaluated = &by_tree,
                         .cancelled = work_.cancelled()};
    const auto begin = Clock::now(), waited = begin - work_.waited();
    kernel_.domains()->evaluate_domain(args, bodies.ids, MessageReader{division.bytes()}, work_);
    parts_.ms = ms_of(Clock::now() - waited - work_.waited());
    result_.by_tree += static_cast<double>(by_tree);
  }

  /// Copies the positions of all ranks into one array. Without domains, bodies never migrate: each rank keeps an
  /// interval of the global indices, in rank order.
  void collect_positions() {
    const std::span all{parts_.arrays.positions};
    count_ = 0;
    for (int rank = 0; rank < work_.size(); ++rank) {
      const auto place = all.subspan(static_cast<std::size_t>(count_));
      if (rank == work_.rank()) {
        std::ranges::copy(parts_.bodies.positions, place.begin());
        count_ += parts_.bodies.count();
      } else {
        MessageReader message = work_.from(rank);
        const auto count = message.get<std::size_t>();
        message.get_values(place.first(count));
        count_ += static_cast<int>(count);
      }
    }
  }

  void evaluate_targets(bool store, double kick_dt) {
    LocalBodies& bodies = parts_.bodies;
    RankArrays& all = parts_.arrays;
    const auto first = bodies.ids.front();
    const bool kicks = kick_dt != 0;
    bodies.accelerations.resize(bodies.ids.size());
    if (kicks) std::ranges::copy(bodies.velocities, all.velocities.begin() + first);
    kernel_.evaluate(
        {.bodies = all.positions.data(),
         .count = count_,
         .targets = {.indices = bodies.ids.data(), .count = bodies.count(), .first = first},
         .masses = parts_.masses,
         .law = order_.law,
         .epilogue = epilogue_of(store ? &all.accelerations : nullptr, kicks ? &all.velocities : nullptr, kick_dt),
         .cancelled = work_.cancelled()});
    if (store) std::copy_n(all.accelerations.begin() + first, bodies.count(), bodies.accelerations.begin());
    if (kicks) std::copy_n(all.velocities.begin() + first, bodies.count(), bodies.velocities.begin());
  }

  /// Returns the epilogue. Null arrays: accelerations are not stored, or velocities are not kicked.
  Epilogue epilogue_of(std::vector<Vec4>* accelerations, std::vector<Vec4>* velocities, double kick_dt) const {
    return {.accelerations = accelerations ? accelerations->data() : nullptr,
            .velocities = velocities ? velocities->data() : nullptr,
            .kick_dt = static_cast<float>(kick_dt),
            .drag = order_.law.effective_drag()};
  }
  /// Records the non-finite body with the lowest global index in this pass, unless an earlier pass found one.
  void note_not_finite() {
    if (result_.not_finite >= 0) return;
    const LocalBodies& bodies = parts_.bodies;
    for (std::size_t i = 0; i < bodies.ids.size(); ++i) {
      if (is_finite(bodies.positions[i], bodies.velocities[i])) continue;
      if (result_.not_finite < 0 || bodies.ids[i] < result_.not_finite) result_.not_finite = bodies.ids[i];
    }
    if (result_.not_finite >= 0) result_.found_in = result_.passes;
  }

  const Parts parts_;
  const StepOrder& order_;
  ForceKernel& kernel_;
  CollectiveWork& work_;
  bool ended_ = false;  // a rank failed or was cancelled: the remaining operations do nothing
  std::vector<int> owners_;
  int count_ = 0;  // number of bodies on all ranks; only without domains
  StepResult result_;
};

}  // namespace

bool RankBodies::put_first(const Bodies& all, const MassRange& masses, Part part, std::size_t offset,
                           MessageWriter& order, std::size_t most) {
  const auto count = static_cast<std::size_t>(all.count());
  const std::size_t last = part.last(count), first = std::min(part.first(count) + offset, last);
  const std::size_t end = std::min(first + most, last);
  const auto put = [&](const std::vector<Vec4>& array) {
    order.put_values(std::span{array}.subspan(first, end - first));
  };
  order.put(masses);
  order.put(offset);
  order.put(static_cast<int>(first));
  order.put(end - first);
  put(all.positions);
  put(all.velocities);
  return end < last;
}

void RankBodies::take_first(MessageReader order) {
  const auto masses = order.get<MassRange>();
  const auto offset = order.get<std::size_t>();
  if (offset == 0) *this = {};  // frees the earlier bodies first
  masses_ = masses;
  const int first = order.get<int>();
  const auto count = order.get<std::size_t>();
  now_.ids.resize(now_.ids.size() + count);
  std::iota(now_.ids.end() - static_cast<std::ptrdiff_t>(count), now_.ids.end(), first);
  now_.positions.resize(now_.ids.size());
  now_.velocities.resize(now_.ids.size());
  order.get_values(std::span{now_.positions}.last(count));
  order.get_values(std::span{now_.velocities}.last(count));
}

StepResult RankBodies::step(const StepOrder& order, std::string_view integrator_id, ForceKernel& kernel,
                            RankArrays& arrays, RankExchange& ranks, const std::atomic<bool>& cancelled) {
  const WithSubnormals as_the_leader{order.subnormals};
  CollectiveWork work{ranks, &cancelled};
  can_undo_ = false;
  work.attempt([&] {
    before_.ids = now_.ids;
    before_.positions = now_.positions;
    before_.velocities = now_.velocities;
    can_undo_ = true;
  });
  RankStep ops{{now_, masses_, arrays, sizes_, ms_}, order, kernel, work};
  find_integrator(integrator_id).step(ops, order.time_step);
  StepResult result = ops.end();
  if (!kernel.tree()) return result;
  if (const std::optional<TreeReport> report = kernel.tree()->report()) {
    result.vector_instructions = report->vector_instructions;
    result.cells = report->cells;
    result.depth = report->depth;
    result.interactions = report->interactions;
  }
  return result;
}

void RankBodies::undo() {
  if (std::exchange(can_undo_, false)) std::swap(now_, before_);
  now_.accelerations_current = false;  // earlier accelerations are not kept
  sizes_.reset();
}

void RankBodies::put(int first, int last, MessageWriter& reply) const {
  std::vector<int> here;
  for (int i = 0; i < now_.count(); ++i) {
    const int id = now_.ids[static_cast<std::size_t>(i)];
    if (id >= first && id < last) here.push_back(i);
  }
  put(here, first, reply);
}

void RankBodies::put(std::span<const int> here, int first, MessageWriter& message) const {
  std::vector<int> places;
  places.reserve(here.size());
  for (const int i : here) places.push_back(now_.ids[static_cast<std::size_t>(i)] - first);
  message.put_all(places);
  message.put_entries(now_.positions.data(), here);
  message.put_entries(now_.velocities.data(), here);
}

BodyBounds RankBodies::bounds() const {
  BodyBounds found;
  for (std::size_t i = 0; i < now_.ids.size(); ++i) found.add(now_.positions[i], now_.velocities[i]);
  return found;
}

std::vector<int> RankBodies::get(MessageReader& reply, std::span<Vec4> positions, std::span<Vec4> velocities) {
  std::vector<int> places;
  reply.get_all(places);
  reply.get_entries(positions.data(), std::span<const int>{places});
  reply.get_entries(velocities.data(), std::span<const int>{places});
  return places;
}

void put_rows(MessageWriter& order, const JointRows& rows) {
  order.put_text(rows.path);
  order.put(rows.file_bytes);
  order.put(rows.positions);
  order.put(rows.velocities);
  order.put(rows.masses);
  order.put(rows.scale);
}

JointRows get_rows(MessageReader& order) {
  JointRows rows;
  rows.path = order.get_text();
  rows.file_bytes = order.get<std::uint64_t>();
  rows.positions = order.get<std::uint64_t>();
  rows.velocities = order.get<std::uint64_t>();
  rows.masses = order.get<std::optional<std::uint64_t>>();
  rows.scale = order.get<std::optional<BodyScale>>();
  return rows;
}

CollectiveWrite::CollectiveWrite(const RankBodies& bodies, std::size_t count, RankExchange& ranks, std::size_t most)
    : bodies_{bodies},
      count_{count},
      rows_per_rank_{(count - 1) / static_cast<std::size_t>(ranks.size()) + 1},
      rows_per_piece_{
          std::min(rows_per_rank_, std::max<std::size_t>(1, most / static_cast<std::size_t>(ranks.size())))},
      work_{ranks, nullptr} {}

bool CollectiveWrite::write(const JointRows& rows, bool is_on_host_of_leader) {
  if (!all(is_on_host_of_leader && succeeds([&] { open(rows); }))) return false;
  bool well = true;
  for (std::size_t offset = 0; offset < rows_per_rank_; offset += rows_per_piece_) {
    work_.attempt([&] { send_piece(offset); });
    if (!work_.exchange()) require_end(work_);  // throws
    well = well && succeeds([&] { write_piece(offset, rows.scale); });
  }
  return all(well && succeeds([&] { file_->flush(); }));
}

bool CollectiveWrite::all(bool own) {
  if (!work_.reduce(own, [](bool& both, bool other) { both = both && other; })) require_end(work_);  // throws
  return own;
}

void CollectiveWrite::open(const JointRows& rows) {
  constexpr std::size_t bytes_per_row = sizeof(int) + 2 * sizeof(Vec4), head = sizeof(std::size_t);
  file_.emplace(rows);
  positions_.resize(rows_per_piece_);
  velocities_.resize(rows_per_piece_);
  work_.reserve(head + rows_per_piece_ * bytes_per_row);
}

/// Sends each rank those bodies of its next piece that this rank holds, in the format of RankBodies::put().
void CollectiveWrite::send_piece(std::size_t offset) {
  std::vector<std::vector<int>> here(static_cast<std::size_t>(work_.size()));
  const std::span<const int> ids = bodies_.ids();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto row = static_cast<std::size_t>(ids[i]);
    const std::size_t rank = row / rows_per_rank_, place = row - first_row(rank);
    if (place >= offset && place - offset < rows_per_piece_) here[rank].push_back(static_cast<int>(i));
  }
  own_.clear();
  for (std::size_t rank = 0; rank < here.size(); ++rank) {
    const bool is_own = static_cast<int>(rank) == work_.rank();
    bodies_.put(here[rank], static_cast<int>(first_row(rank) + offset),
                is_own ? own_ : work_.to(static_cast<int>(rank)));
  }
}

void CollectiveWrite::write_piece(std::size_t offset, const std::optional<BodyScale>& scale) {
  std::size_t count = 0;
  const auto take = [&](MessageReader message) { count += RankBodies::get(message, positions_, velocities_).size(); };
  take(MessageReader{own_.bytes()});
  work_.for_each_other([&](int rank) { take(work_.from(rank)); });
  const std::size_t first = first_row(static_cast<std::size_t>(work_.rank())) + offset;
  const std::size_t last = std::min(first_row(static_cast<std::size_t>(work_.rank()) + 1), count_);
  const std::size_t expected = first < last ? std::min(rows_per_piece_, last - first) : 0;
  if (count != expected) throw std::logic_error("the ranks hold other bodies than were scattered");
  const std::span positions = std::span{positions_}.first(count), velocities = std::span{velocities_}.first(count);
  if (scale) {
    for (Vec4& position : positions) position = scale->of_position(position);
    for (Vec4& velocity : velocities) velocity = scale->of_velocity(velocity);
  }
  file_->write(first, positions, velocities);
}

}  // namespace orrery
