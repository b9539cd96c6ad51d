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
  std::vector<std::uint8_t> of_body;  ///< one per body, an index into `names`; empty if there are no names
  friend bool operator==(const Parts&, const Parts&) = default;
};

struct PartSize {
  const char* name;
  int count;  ///< number of bodies
};

/// Returns parts that follow each other in the order of the bodies, without those that have no bodies.
Parts parts_in_order(std::initializer_list<PartSize> sizes);

/// Returns the species of these bodies as parts. If there are more than 4, all are reduced to gas, dark and star.
Parts parts_of(std::span<const Species> species);

/// Which bodies to start from: a generator by name with a count and a seed, or a snapshot file.
struct SceneRequest {
  std::string scene = "collision";
  std::string file{};      ///< a snapshot's path; empty: the generator `scene`
  std::int64_t count = 0;  ///< bodies; 0: the scene's own default. Must be 0 with a file
  std::uint64_t seed = 1;  ///< ignored with a file
  SnapshotHints hints{};   ///< about the file
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
  Digits digits = Digits::single;    ///< digits that a run begins with; `bodies` may have low words in any case
  double smallest_orbit = 0;         ///< length that a softening should resolve; 0: there are no orbits
  std::vector<std::string> notes{};  ///< assumptions about the file's bodies, one line each; see Snapshot::notes
};

/// A generator's descriptor, one per file. A scene has the same bodies on every machine: it is drawn from portable
/// random numbers, computed in double and rounded to float once.
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

/// Generates the scene `cosmic-web` with any strength of its density waves: 1 is the scene's own, 0 leaves an even
/// sphere with the same bodies in the same order.
Scene cosmic_web(int count, std::uint64_t seed, double strength);

}  // namespace orrery
