#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "compute/core/bodies.h"
#include "compute/snapshots/snapshot.h"

namespace orrery {

/// Which bodies to start from: a generator by name with a count and a seed, or a snapshot file.
struct SceneRequest {
  std::string scene = "collision";
  std::string file{};      ///< a snapshot's path; empty: the generator `scene`
  std::int64_t count = 0;  ///< bodies; 0: the scene's own default. Must be 0 with a file
  std::uint64_t seed = 1;  ///< ignored with a file
  friend bool operator==(const SceneRequest&, const SceneRequest&) = default;
};

/// A loaded scene and what suits it, in units of G = 1.
struct Scene {
  std::string name;  ///< the generator's id, or the file's name without its folder
  Bodies bodies;
  float time_step;  ///< a dt that leapfrog integrates well with `softening`
  float softening;
  BodyProperties properties{};  ///< of a file's bodies
  double time = 0;              ///< of the bodies: 0, or a file's
};

/// A generator's descriptor, one per file like the kernels. The same bodies on every machine: drawn from its own random
/// numbers, computed in double, rounded to float once.
struct SceneInfo {
  const char* id;
  const char* title;
  const char* notes;
  int default_count;
  int fixed_count;  ///< 0: any count from min_count on; else the only count
  int min_count;
  bool random;                                       ///< other seeds give other bodies
  Scene (*generate)(int count, std::uint64_t seed);  ///< count is one that the fields above allow
};

std::span<const SceneInfo* const> scenes();
/// Throws UsageError that lists the known ids.
const SceneInfo& find_scene(std::string_view id);

/// The number of bodies that the scene is generated with when `asked` for; 0 is its default. Throws UsageError for one
/// that it cannot have, or that host memory does not hold.
int allowed_count(const SceneInfo& info, std::int64_t asked);

/// Generates the scene or reads the file. Throws UsageError for an unknown scene, a count it cannot have or one that
/// host memory does not hold; std::runtime_error for a file that cannot be used.
Scene load_scene(const SceneRequest& request);

}  // namespace orrery
