// Scenes: the request, the loaded bodies with their parts, and the list of generators.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/snapshots/snapshot.h"

namespace orrery {

/// The parts of a scene: its galaxies, the components of one galaxy, or the species of a file. Steps do not change
/// them.
struct Parts {
  std::vector<std::string> names;     ///< at most 4; empty: the scene has no parts
  std::vector<std::uint8_t> of_body;  ///< one per body: index into `names`; empty if there are no names
  friend bool operator==(const Parts&, const Parts&) = default;
};

struct PartSize {
  const char* name;
  int count;  ///< number of bodies
};

/// Returns the parts of bodies that are grouped by part, in this order. Omits parts without bodies.
Parts parts_in_order(std::initializer_list<PartSize> sizes);

/// Returns the species of these bodies as parts. If there are more than 4, all are reduced to gas, dark and star.
Parts parts_of(std::span<const Species> species);

/// Source of the initial bodies: a generator by name with a count and a seed, or a snapshot file.
struct SceneRequest {
  std::string scene = "collision";
  std::string file{};      ///< a snapshot's path; empty: the generator `scene`
  std::int64_t count = 0;  ///< bodies; 0: the scene's own default. Must be 0 with a file
  std::uint64_t seed = 1;  ///< ignored with a file
  SnapshotHints hints{};   ///< hints about the file; must be empty without a file
  friend bool operator==(const SceneRequest&, const SceneRequest&) = default;
};

/// A loaded scene with a suitable time step and softening, in units of G = 1.
struct Scene {
  std::string name;  ///< the generator's id, or the file's name without its folder
  Bodies bodies;
  float time_step;  ///< a dt that leapfrog integrates well with `softening`
  float softening;
  BodyProperties properties{};  ///< properties of a file's bodies
  double time = 0;              ///< time of the state: 0, or the file's
  Parts parts{};
  std::optional<Units> units{};      ///< units of the file's numbers; empty: not known
  Frame frame{};                     ///< origin of the bodies in the coordinates of the file
  Digits digits = Digits::single;    ///< initial digits of a run; `bodies` may have low parts with either
  double smallest_orbit = 0;         ///< size of the smallest orbit, to be resolved by softening; 0: no orbits
  std::vector<std::string> notes{};  ///< assumptions about the file's bodies, one line each; see Snapshot::notes
};

/// Descriptor of a generator; each is defined in its own source file. Bodies are the same on every machine: generators
/// use portable random numbers, compute in double and round to float once.
struct SceneInfo {
  const char* id;
  const char* title;
  const char* notes;
  int default_count;
  int fixed_count;  ///< the only possible count; 0: any count of at least min_count
  int min_count;
  bool random;                                       ///< whether the bodies depend on the seed
  Scene (*generate)(int count, std::uint64_t seed);  ///< the fields above must allow `count`
};

std::span<const SceneInfo* const> scenes();

/// Returns the scene with this id. Throws UsageError that lists the known ids.
const SceneInfo& find_scene(std::string_view id);

/// Returns the number of bodies for the request `asked`; 0 requests the default. Throws UsageError if the scene cannot
/// have that many bodies or host memory does not hold them.
int allowed_count(const SceneInfo& info, std::int64_t asked);

/// Generates the scene or reads the file. Throws UsageError if the scene is unknown, cannot have that many bodies or
/// does not fit host memory. Throws std::runtime_error if the file cannot be used.
Scene load_scene(const SceneRequest& request);

/// Radius of the sphere of the scene `cosmic-web` at the start.
inline constexpr double cosmic_web_radius = 0.25;

/// Generates the scene `cosmic-web` with any strength of its density waves. 1 is the strength of the scene; 0 gives an
/// even sphere with the same bodies in the same order.
Scene cosmic_web(int count, std::uint64_t seed, double strength);

}  // namespace orrery
