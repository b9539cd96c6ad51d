// Kernels' promises of their forces: kept on systems whose terms cancel, broken by kernels with a fault.
#include "app/lab/force_promise.h"

#include <random>

#include "compute/scenes/scene.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

using Positions = std::vector<Vec4>;

struct System {
  std::string name;
  Positions bodies;
  float softening = 0.02f;
};

Vec4 in_ball(std::mt19937& random, float mass) {
  std::uniform_real_distribution<float> coordinate{-1, 1};
  for (;;) {
    const Vec4 at{coordinate(random), coordinate(random), coordinate(random), mass};
    if (at.x * at.x + at.y * at.y + at.z * at.z <= 1) return at;
  }
}

/// A ball of which this part of the bodies is at one place.
Positions coincident(int count, double part, Vec4 place) {
  std::mt19937 random{1};
  Positions bodies;
  for (int i = 0; i < count; ++i) {
    Vec4 at = in_ball(random, 1.0f / static_cast<float>(count));
    if (i < part * count) at = {place.x, place.y, place.z, at.w};
    bodies.push_back(at);
  }
  return bodies;
}

/// A thin ring of bodies of this whole mass, and a star of mass 1 among them at this index.
Positions star_and_disc(int count, float disc_mass, int star) {
  std::mt19937 random{2};
  std::uniform_real_distribution<float> angle{0, 6.2831853f}, share{0.1f, 1};
  std::normal_distribution<float> height{0, 0.01f};
  Positions bodies;
  for (int i = 0; i < count; ++i) {
    const float radius = std::sqrt(share(random)), at = angle(random);
    bodies.push_back(
        {radius * std::cos(at), radius * std::sin(at), height(random), disc_mass / static_cast<float>(count)});
  }
  bodies[static_cast<std::size_t>(star)] = {0, 0, 0, 1};
  return bodies;
}

std::vector<System> systems() {
  std::vector<System> list;
  for (const char* scene : {"plummer", "collision", "disc", "cosmic-web", "cold-collapse"}) {
    Scene loaded = load_scene({.scene = scene, .count = 1000});
    list.push_back({scene, std::move(loaded.bodies.positions), loaded.softening});
  }
  list.push_back({"half at one place", coincident(1500, 0.5, {0.1f, 0.2f, 0.3f, 0})});
  list.push_back({"a third at one place", coincident(1500, 0.33, {0.01f, 0, 0, 0})});
  list.push_back({"all at one place", coincident(1000, 1, {1, 1, 1, 0})});
  list.push_back({"star and light disc", star_and_disc(1500, 1e-3f, 1000)});
  list.push_back({"star and heavy disc", star_and_disc(1500, 0.1f, 0), 0.005f});
  Positions pairs;  // every pull on the first cancels
  std::mt19937 random{3};
  for (int i = 0; i < 750; ++i) {
    const Vec4 at = in_ball(random, 1e-3f);
    pairs.insert(pairs.end(), {at, {-at.x, -at.y, -at.z, at.w}});
  }
  list.push_back({"mirrored", pairs});
  list.push_back({"two at rest under repulsion", {{0, 0, 0, 1}, {std::sqrt(0.01f - 0.0004f), 0, 0, 1}}});
  return list;
}

std::vector<Law> laws(float softening) {
  std::vector<Law> list{{.softening = softening}};
  for (const float repulsion : {0.002f, 0.1f, 10.0f}) {
    list.push_back({.id = LawId::attract_repel, .softening = softening, .repulsion = repulsion});
  }
  return list;
}

/// The accelerations by a CPU kernel.
std::vector<Vec4> by_kernel(const KernelInfo& kernel, const Settings& settings, const Positions& bodies,
                            const Law& law) {
  std::vector<Vec4> accelerations(bodies.size());
  backends()
      .make_kernel(kernel, settings)
      ->evaluate({.bodies = bodies.data(),
                  .count = static_cast<int>(bodies.size()),
                  .masses = mass_range(bodies),
                  .law = law,
                  .epilogue = {.accelerations = accelerations.data()}});
  return accelerations;
}

TEST(ForcePromises, AreKeptByEveryKernelWhereTermsCancel) {
  for (const System& system : systems()) {
    for (const Law& law : laws(system.softening)) {
      const ForceSample sample{system.bodies, law, 1000};
      const ForcePromise promise{system.bodies, sample, law};
      for (const KernelPtr& kernel : kernels()) {
        if (kernel->backend != Backend::cpu) continue;
        std::vector<Settings> all{Settings{*kernel}};
        if (kernel->tunable("order")) {
          all.clear();
          for (const char* order : {"monopole", "quadrupole", "local", "high"}) {
            for (const char* tolerance : {"1e-3", "off"}) {
              all.push_back(Settings{*kernel, {{"order", order}, {"tolerance", tolerance}}});
            }
          }
        }
        for (const Settings& settings : all) {
          const ForceVerdict verdict =
              promise.judge(*kernel, settings, by_kernel(*kernel, settings, system.bodies, law));
          EXPECT_EQ(verdict.failure, "") << kernel->id << ' ' << settings.changes() << ", " << system.name << ", "
                                         << law_info(law.id).id << ' ' << law.repulsion;
        }
      }
    }
  }
}

/// The accelerations of what a kernel with a fault makes of the bodies: exact but for that.
std::vector<Vec4> faulty(const Positions& bodies, const Law& law, const std::function<void(Positions&, Law&)>& spoil) {
  Positions wrong = bodies;
  Law wrong_law = law;
  spoil(wrong, wrong_law);
  std::vector<int> all(bodies.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  std::vector<Vec4> accelerations;
  for (const Vec3d& a : reference_accelerations(wrong, all, wrong_law)) {
    accelerations.push_back({static_cast<float>(a.x), static_cast<float>(a.y), static_cast<float>(a.z), 0});
  }
  return accelerations;
}

TEST(ForcePromises, AreBrokenByFaultyKernels) {
  const auto half = [](float& x) { x = std::round(x * 1024) / 1024; };
  struct Fault {
    const char* name;
    std::function<void(Positions&, Law&)> spoil;
    bool of_trees;  ///< large enough for what a tree may do
  };
  const Fault faults[]{
      {"one body is left out", [](Positions& b, Law&) { b[b.size() / 2].w = 0; }, false},
      {"the last 31 bodies are left out",
       [](Positions& b, Law&) { std::for_each(b.end() - 31, b.end(), [](Vec4& body) { body.w = 0; }); }, true},
      {"positions have ten bits",
       [&](Positions& b, Law&) {
         for (Vec4& p : b) half(p.x), half(p.y), half(p.z);
       },
       false},
      {"masses are 0.1 % too large",
       [](Positions& b, Law&) {
         for (Vec4& p : b) p.w *= 1.001f;
       },
       false},
      {"masses are 2 % too large",
       [](Positions& b, Law&) {
         for (Vec4& p : b) p.w *= 1.02f;
       },
       true},
      {"the softening is 10 % too large", [](Positions&, Law& law) { law.softening *= 1.1f; }, false},
      {"the repulsion is left out", [](Positions&, Law& law) { law.id = LawId::gravity; }, false}};
  for (const char* scene : {"plummer", "collision"}) {
    const Scene loaded = load_scene({.scene = scene, .count = 1500});
    const Positions& bodies = loaded.bodies.positions;
    for (const Law& law : laws(loaded.softening)) {
      const ForceSample sample{bodies, law};
      const ForcePromise promise{bodies, sample, law};
      for (const char* id : {"cpu-serial", "cpu-simd", "cpu-fp64", "cpu-tree"}) {
        const KernelPtr kernel = find_kernel(id);
        EXPECT_EQ(promise.judge(*kernel, Settings{*kernel}, faulty(bodies, law, [](Positions&, Law&) {})).failure, "");
        for (const Fault& fault : faults) {
          if (kernel->is_tree && (!fault.of_trees || law.id != LawId::gravity)) continue;
          const bool repels = law.id == LawId::attract_repel;
          if (!repels && std::string{fault.name} == "the repulsion is left out") continue;
          const ForceVerdict verdict = promise.judge(*kernel, Settings{*kernel}, faulty(bodies, law, fault.spoil));
          EXPECT_NE(verdict.failure, "") << id << ", " << scene << ", H " << law.repulsion << ": " << fault.name;
        }
      }
    }
  }
}

TEST(ForcePromises, AreBrokenByOneBodyAlone) {
  const Scene loaded = load_scene({.scene = "plummer", .count = 1500});
  const Positions& bodies = loaded.bodies.positions;
  const Law law{.softening = loaded.softening};
  const ForceSample sample{bodies, law};
  const ForcePromise promise{bodies, sample, law};
  const KernelPtr kernel = find_kernel("cpu-simd");
  const Settings settings{*kernel};
  std::vector<Vec4> found = faulty(bodies, law, [](Positions&, Law&) {});
  found[700].x *= -1;
  EXPECT_NE(promise.judge(*kernel, settings, found).failure, "") << "one sign";
  found = faulty(bodies, law, [](Positions&, Law&) {});
  found[700].y = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(promise.judge(*kernel, settings, found).failure, "") << "NaN passes no comparison";
  EXPECT_NE(promise.judge(*kernel, settings, std::vector<Vec4>(bodies.size())).failure, "") << "nothing was computed";
}

TEST(ForcePromises, AreOfOneBodyToo) {
  const Positions bodies{{1, 2, 3, 1}};
  const ForceSample sample{bodies, Law{}};
  const KernelPtr kernel = find_kernel("cpu-tree");
  const ForcePromise promise{bodies, sample, Law{}};
  EXPECT_EQ(promise.judge(*kernel, Settings{*kernel}, {{{0, 0, 0, 0}}}).failure, "");
  EXPECT_NE(promise.judge(*kernel, Settings{*kernel}, {{{0, 1e-3f, 0, 0}}}).failure, "") << "it pulls itself";
}

TEST(LawNotes, SayWhichOrdersAreQuadrupoleUnderRepulsion) {
  const KernelPtr tree = find_kernel("cpu-tree"), sum = find_kernel("cpu-simd");
  const auto note = [&](const char* order, LawId law) {
    return law_note(*tree, Settings{*tree, {{"order", order}}}, law);
  };
  for (const char* order : {"local", "high"}) {
    EXPECT_EQ(note(order, LawId::attract_repel), std::string{"cpu-tree: under attract-repel, order="} + order +
                                                     " acts as order=quadrupole: the repulsion has no expansions");
    EXPECT_EQ(note(order, LawId::gravity), "");
  }
  EXPECT_EQ(note("monopole", LawId::attract_repel), "");
  EXPECT_EQ(note("quadrupole", LawId::attract_repel), "");
  EXPECT_EQ(law_note(*sum, Settings{*sum}, LawId::attract_repel), "");
}

}  // namespace
}  // namespace orrery::test
