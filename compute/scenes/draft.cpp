#include "compute/scenes/draft.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "compute/core/threads.h"

namespace orrery {
namespace {

/// Sums of mass, mass times position and mass times velocity over some bodies.
struct Moments {
  double mass = 0;
  Vec3d centre, momentum;

  void add(double of_mass, const Vec3d& at, const Vec3d& moves) {
    mass += of_mass;
    centre = {centre.x + at.x, centre.y + at.y, centre.z + at.z};
    momentum = {momentum.x + moves.x, momentum.y + moves.y, momentum.z + moves.z};
  }
};

Moments moments_of(const Draft& draft) {
  Moments sum;
  for (const auto& [m, x, v] : draft) sum.add(m, {m * x.x, m * x.y, m * x.z}, {m * v.x, m * v.y, m * v.z});
  return sum;
}

/// Sums each draft in parallel, then adds these sums in order, so that the result does not depend on the threads.
Moments moments_of(const std::vector<Draft>& drafts) {
  std::vector<Moments> parts(drafts.size());
  for_each_chunk(static_cast<int>(drafts.size()), 1, usable_threads(), nullptr, [&](int first, int last) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
      parts[i] = moments_of(drafts[i]);
    }
  });
  Moments sum;
  for (const Moments& part : parts) sum.add(part.mass, part.centre, part.momentum);
  return sum;
}

/// Returns `count` bodies, to be filled in. Two threads allocate and initialize their arrays.
Bodies room_for(std::size_t count) {
  Bodies bodies;
  std::vector<Vec4>* const arrays[] = {&bodies.positions, &bodies.velocities};
  for (auto* array : arrays) array->reserve(count);
  for_each_chunk(2, 1, usable_threads(), nullptr, [&](int first, int last) {
    for (int i = first; i < last; ++i) arrays[i]->resize(count);
  });
  return bodies;
}

}  // namespace

std::vector<Draft> drawn_in_parallel(int count, std::uint64_t seed, const std::function<DraftBody(Random&)>& draw,
                                     int most) {
  const int parts = (count - 1) / most + 1;
  std::vector<Draft> drafts(static_cast<std::size_t>(parts));
  const auto size_of = [&](int part) { return static_cast<std::size_t>(std::min(most, count - part * most)); };
  for (int part = 0; part < parts; ++part) drafts[static_cast<std::size_t>(part)].reserve(size_of(part));
  for_each_chunk(parts, 1, usable_threads(), nullptr, [&](int first, int last) {
    for (int part = first; part < last; ++part) {
      Random random{seed + (static_cast<std::uint64_t>(part) << 40)};
      Draft& draft = drafts[static_cast<std::size_t>(part)];
      while (draft.size() < size_of(part)) draft.push_back(draw(random));
    }
  });
  return drafts;
}

Bodies finished(Draft draft) {
  std::vector<Draft> one;
  one.push_back(std::move(draft));
  return finished(one);
}

Bodies finished(const std::vector<Draft>& drafts) {
  const auto moments = moments_of(drafts);
  std::size_t count = 0;
  for (const Draft& draft : drafts) count += draft.size();
  Bodies bodies = room_for(count);
  std::size_t before = 0;
  for (const Draft& draft : drafts) {
    constexpr int chunk = 1 << 16;
    for_each_chunk(static_cast<int>(draft.size()), chunk, usable_threads(), nullptr, [&](int first, int last) {
      const auto& [mass, centre, momentum] = moments;
      for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
        const auto& [m, x, v] = draft[i];
        bodies.positions[before + i] = {static_cast<float>(x.x - centre.x / mass),
                                        static_cast<float>(x.y - centre.y / mass),
                                        static_cast<float>(x.z - centre.z / mass), static_cast<float>(m)};
        bodies.velocities[before + i] = {static_cast<float>(v.x - momentum.x / mass),
                                         static_cast<float>(v.y - momentum.y / mass),
                                         static_cast<float>(v.z - momentum.z / mass), 0.0f};
      }
    });
    before += draft.size();
  }
  return bodies;
}

}  // namespace orrery
