// Several devices that divide a tree's work find what one finds, whether each builds the whole tree or that of a
// domain, and whether they belong to one process or to ranks.
#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/devices/device_team.h"
#include "compute/devices/load_balance.h"
#include "compute/diagnostics/reference.h"
#include "compute/kernels/division.h"
#include "compute/kernels/kernel_sharing.h"
#include "compute/kernels/shared_facets.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/evaluations.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/random_ball.h"
#include "tests/compute/support/teams.h"
#include "tests/test.h"

namespace orrery {
namespace {

using test::Several;
using test::Way;

std::vector<KernelPtr> divided_trees() {
  return test::kernels_under_test(
      [](const KernelInfo& kernel) { return kernel.is_tree && (kernel.takes_targets || kernel.divides); });
}

/// Calls use(backends) for devices of one process, and for those of ranks.
template <class Use>
void in_each_way(const Use& use) {
  for (const Way& way : test::ways()) {
    SCOPED_TRACE(way.to_string());
    use(Several{way}.backends());
  }
}

/// By their velocities.
void drift(Bodies& bodies, float time) {
  for (std::size_t i = 0; i < bodies.positions.size(); ++i) {
    bodies.positions[i].x += time * bodies.velocities[i].x;
    bodies.positions[i].y += time * bodies.velocities[i].y;
  }
}

class DividedTree : public test::KernelTest {};

TEST_P(DividedTree, CountsTheInteractionsOfAllDevices) {
  const Bodies bodies = test::random_ball(200'011);
  const auto alone = test::backends().make_kernel(info(), Settings{info()});
  std::uint64_t expected = 0;
  test::evaluate(*alone, bodies, {.law = {}, .evaluated = &expected});
  in_each_way([&](const Backends& backends) {
    const auto kernel = backends.make_kernel(info(), Settings{info()});
    std::uint64_t found = 0;
    test::evaluate(*kernel, bodies, {.law = {}, .evaluated = &found});
    // Cells at the borders of domains have parts on two devices.
    EXPECT_NEAR(static_cast<double>(found), static_cast<double>(expected), 0.05 * static_cast<double>(expected));
    EXPECT_EQ(kernel->tree()->report()->interactions, static_cast<std::int64_t>(found));
  });
}

TEST_P(DividedTree, KeepsItsCellsOnEveryDevice) {
  in_each_way([&](const Backends& backends) {
    const auto kernel = backends.make_kernel(info(), Settings{info(), {{"rebuild", "4"}}});
    Bodies bodies = test::random_ball(4097);
    for (int step = 0; step < 6; ++step) {
      SCOPED_TRACE("evaluation " + std::to_string(step));
      test::expect_agreement(test::evaluate(*kernel, bodies, {.law = {}}).accelerations, bodies, {}, info().tolerance);
      drift(bodies, 0.01f);
      if (step == 2) kernel->bodies_replaced();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Kernels, DividedTree, testing::ValuesIn(divided_trees()), test::test_name);

ForceError error_of(const std::vector<Vec4>& accelerations, const Bodies& bodies) {
  const std::vector<int> sample = sample_targets(bodies.count(), 1000);
  return target_error(entries(accelerations, sample), sample, reference_accelerations(bodies.positions, sample, {}));
}

class DividedDomains : public test::BackendTest {
 protected:
  static const KernelInfo& info() { return *test::find_kernel("cuda-tree"); }
  static ForceError error_of(ForceKernel& kernel, const Bodies& bodies) {
    const std::vector<int> sample = sample_targets(bodies.count(), 1000);
    return target_error(entries(test::evaluate(kernel, bodies, {.law = {}}).accelerations, sample), sample,
                        reference_accelerations(bodies.positions, sample, {}));
  }
  static void expect_agreement(ForceKernel& kernel, const Bodies& bodies) {
    const ForceError error = error_of(kernel, bodies);
    EXPECT_LE(error.median, info().tolerance.median);
    EXPECT_LE(error.max, info().tolerance.max) << "body " << error.worst;
  }
  /// Errors up to `allowed` may be greater than those of one device. In their first evaluation, devices may send each
  /// other more than in later ones.
  static void expect_errors_of_one_device(ForceKernel& kernel, const Settings& settings, const Bodies& bodies,
                                          const Tolerance& allowed = {.median = 0, .max = 0}) {
    const auto alone = test::backends().make_kernel(info(), settings);
    const ForceError expected = error_of(*alone, bodies);
    for (const char* turn : {"first", "second"}) {
      const ForceError found = error_of(kernel, bodies);
      EXPECT_LE(found.median, std::max(allowed.median, 1.2 * expected.median)) << turn;
      EXPECT_LE(found.p99, std::max(allowed.max, 1.5 * expected.p99)) << turn;
    }
  }
};

TEST_F(DividedDomains, AgreeForDegenerateBodies) {
  const Bodies ball = test::random_ball(20'000);
  std::vector<std::pair<const char*, Bodies>> systems{{"lopsided", test::lopsided(20'000)},
                                                      {"collinear", test::collinear(20'000)}};
  const auto add = [&](const char* name, const auto& change) {
    Bodies bodies = ball;
    for (std::size_t i = 0; i < bodies.positions.size(); ++i) change(i, bodies.positions[i]);
    systems.emplace_back(name, std::move(bodies));
  };
  add("two clusters", [](std::size_t i, Vec4& body) { body.x += i % 2 == 0 ? 1000.0f : 0.0f; });
  add("seven points", [&](std::size_t i, Vec4& body) {
    const Vec4& place = ball.positions[i % 7];
    body = {place.x, place.y, place.z, body.w};
  });
  add("half of them in one point", [](std::size_t i, Vec4& body) {
    if (i % 2 == 0) body = {0.5f, 0.3f, -0.2f, body.w};
  });
  add("one far away", [](std::size_t i, Vec4& body) {
    if (i == 17) body = {1e6f, 0, 0, body.w};
  });
  in_each_way([&](const Backends& backends) {
    const auto kernel = backends.make_kernel(info(), Settings{info()});
    for (const auto& [name, bodies] : systems) {
      SCOPED_TRACE(name);
      expect_errors_of_one_device(*kernel, Settings{info()}, bodies, info().tolerance);
    }
  });
}

TEST_F(DividedDomains, PickTheCellsOfAllDevices) {
  Bodies bodies = test::random_ball(20'011);
  in_each_way([&](const Backends& backends) {
    test::Evaluations evaluations{backends.make_kernel(info(), Settings{info()}), bodies.count()};
    EXPECT_TRUE(evaluations.cells(1 << 20).empty()) << "there is no tree";
    evaluations.run(bodies);
    const std::vector<TreeCell> cells = evaluations.cells(1 << 20);
    EXPECT_EQ(static_cast<std::int64_t>(cells.size()), evaluations.kernel().tree()->report()->cells);
    for (const Vec4& body : bodies.positions) {
      const auto holds = [&](const TreeCell& cell) {
        const auto within = [&](float center, float x) { return std::abs(x - center) <= cell.half_size + 1e-6f; };
        return cell.level > 1 && within(cell.center.x, body.x) && within(cell.center.y, body.y) &&
               within(cell.center.z, body.z);
      };
      ASSERT_TRUE(std::ranges::any_of(cells, holds));
    }
  });
}

TEST_F(DividedDomains, FollowBodiesThatMoveFarFromOneEvaluationToTheNext) {
  in_each_way([&](const Backends& backends) {
    for (const char* rebuild : {"1", "3"}) {
      const auto kernel = backends.make_kernel(info(), Settings{info(), {{"rebuild", rebuild}}});
      Bodies bodies = test::random_ball(9001);
      for (int step = 0; step < 20; ++step) {
        SCOPED_TRACE(std::string{"rebuild="} + rebuild + ", evaluation " + std::to_string(step));
        expect_agreement(*kernel, bodies);
        drift(bodies, 0.5f);
      }
    }
  });
}

TEST_F(DividedDomains, GetRoomForAllCellsWhereThereWereFewBefore) {
  const Bodies ball = test::random_ball(300'000);
  Bodies points = ball;
  for (std::size_t i = 0; i < points.positions.size(); ++i) points.positions[i] = ball.positions[i % 7];
  const auto cells_of = [](ForceKernel& kernel, const Bodies& bodies) {
    test::evaluate(kernel, bodies, {.law = {}});
    return static_cast<double>(kernel.tree()->report()->cells);
  };
  const double expected = cells_of(*test::backends().make_kernel(info(), Settings{info()}), ball);
  in_each_way([&](const Backends& backends) {
    const auto kernel = backends.make_kernel(info(), Settings{info()});
    for (int step = 0; step < 4; ++step) cells_of(*kernel, points);
    for (int step = 0; step < 2; ++step) cells_of(*kernel, ball);  // the first ones may have larger leaves
    EXPECT_NEAR(cells_of(*kernel, ball), expected, 0.05 * expected);
  });
}

TEST_F(DividedDomains, AreFoundForManyDevices) {
  const Several several{{.devices = {.ordinals = std::vector<int>(20, 0)}, .ranks = false}};
  const auto kernel = several.backends().make_kernel(info(), Settings{info()});
  expect_agreement(*kernel, test::random_ball(40'009));
  expect_agreement(*kernel, test::lopsided(40'009));
}

TEST_F(DividedDomains, TakeTargetsAndAllBodiesInTurn) {
  const Bodies bodies = test::random_ball(9001);
  in_each_way([&](const Backends& backends) {
    for (const char* rebuild : {"1", "4"}) {
      const auto kernel = backends.make_kernel(info(), Settings{info(), {{"rebuild", rebuild}}});
      for (const int size : {9001, 1, 500, 9001, 3}) {
        SCOPED_TRACE(std::string{"rebuild="} + rebuild + ", " + std::to_string(size));
        const std::vector<int> targets = size < 9001 ? test::random_targets(9001, size) : std::vector<int>{};
        const std::vector<int> wanted = targets.empty() ? sample_targets(9001, 500) : targets;
        const auto found = test::evaluate(*kernel, bodies, {.law = {}, .targets = targets}).accelerations;
        EXPECT_EQ(std::ranges::count_if(found, [](const Vec4& a) { return !std::isnan(a.x); }), size);
        const ForceError error =
            target_error(entries(found, wanted), wanted, reference_accelerations(bodies.positions, wanted, {}));
        EXPECT_LE(error.max, info().tolerance.max);
      }
    }
  });
}

TEST_F(DividedDomains, ReadTheWalksOfTheFirstDevicesBodies) {
  const Bodies bodies = test::random_ball(20'011);
  in_each_way([&](const Backends& backends) {
    test::Evaluations evaluations{backends.make_kernel(info(), Settings{info()}), bodies.count()};
    evaluations.run(bodies);
    int read = 0, refused = 0;
    for (int body = 0; body < bodies.count(); body += 500) {
      const PickedCells picked = evaluations.picked({.most = 1, .walk_of = body});
      if (!picked.walk) ++refused;
      if (!picked.walk) continue;
      ++read;
      EXPECT_GT(picked.walk->cells.size(), 10u) << body;
      EXPECT_GT(picked.walk->bodies, 0) << body;
      for (const TreeCell& cell : picked.walk->cells) EXPECT_GT(cell.half_size, 0) << body;
    }
    EXPECT_GT(read, 0);
    EXPECT_GT(refused, 0);
  });
}

TEST_F(DividedDomains, TellWhoHasABody) {
  const Bodies many = test::random_ball(20'011), few = test::random_ball(500);
  const auto& positions = many.positions;
  in_each_way([&](const Backends& backends) {
    test::Evaluations evaluations{backends.make_kernel(info(), Settings{info()}), many.count()};
    EXPECT_FALSE(evaluations.owners(many.count()));
    evaluations.run(many);
    const std::optional<BodyOwners> owners = evaluations.owners(many.count());
    ASSERT_TRUE(owners);
    ASSERT_EQ(owners->of_body.size(), positions.size());
    std::vector<int> bodies(owners->names.size());
    for (const int owner : owners->of_body) ++bodies.at(static_cast<std::size_t>(owner));
    for (const int count : bodies) EXPECT_GT(count, many.count() / static_cast<int>(2 * bodies.size()));
    // Domains are regions, so most bodies have a neighbour of the same owner.
    int apart = 0, looked_at = 0;
    for (std::size_t i = 0; i < positions.size(); i += 100) {
      const auto distance = [&](std::size_t j) {
        const Vec4 &a = positions[i], &b = positions[j];
        return i == j ? std::numeric_limits<float>::infinity() : std::hypot(a.x - b.x, a.y - b.y, a.z - b.z);
      };
      std::size_t nearest = 0;
      for (std::size_t j = 0; j < positions.size(); ++j) nearest = distance(j) < distance(nearest) ? j : nearest;
      apart += owners->of_body[i] != owners->of_body[nearest];
      ++looked_at;
    }
    EXPECT_LT(apart, looked_at / 5);
    evaluations.kernel().bodies_replaced();
    EXPECT_FALSE(owners_of(evaluations.kernel(), many.count())) << "those were other bodies";
    evaluations.run(few);  // the first device evaluates them alone
    const std::optional<BodyOwners> of_few = evaluations.owners(few.count());
    ASSERT_TRUE(of_few);
    EXPECT_EQ(of_few->of_body, std::vector<int>(few.positions.size()));
  });
}

class DividedOctree : public DividedDomains, public testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(Orders, DividedOctree, testing::Values("monopole", "quadrupole", "local", "high"),
                         [](const auto& order) { return std::string{order.param}; });

TEST_P(DividedOctree, HasTheErrorsOfOneDevice) {
  const Bodies bodies = test::random_ball(65'537);
  for (const char* tolerance : {"off", "1e-3", "1e-5"}) {
    const Settings settings{info(), {{"order", GetParam()}, {"tolerance", tolerance}, {"theta", "0.8"}}};
    in_each_way([&](const Backends& backends) {
      SCOPED_TRACE(std::string{"tolerance "} + tolerance);
      expect_errors_of_one_device(*backends.make_kernel(info(), settings), settings, bodies);
    });
  }
}

TEST_P(DividedOctree, GivesTargetsWhatItGivesAll) {
  const Bodies bodies = test::random_ball(9001);
  const std::vector<int> targets = test::random_targets(9001, 300);
  in_each_way([&](const Backends& backends) {
    const auto kernel = backends.make_kernel(info(), Settings{info(), {{"order", GetParam()}}});
    const auto all = test::evaluate(*kernel, bodies, {.law = {}}),
               some = test::evaluate(*kernel, bodies, {.law = {}, .targets = targets});
    for (const int i : targets) {
      const Vec4 &a = all.accelerations[static_cast<std::size_t>(i)],
                 &b = some.accelerations[static_cast<std::size_t>(i)];
      EXPECT_LT(std::hypot(a.x - b.x, a.y - b.y, a.z - b.z), 1e-5 * std::hypot(a.x, a.y, a.z)) << "body " << i;
    }
  });
}

// Trees of GPUs that do not see each other's memory, and what they send each other. One GPU stands for two.

const KernelInfo& tree_info() {
  return *test::find_kernel("cuda-tree");
}

/// Two kernels that divide the evaluations of some bodies, and choose what they send each other, or copy all.
class TwoTrees {
 public:
  TwoTrees(const Settings& settings, const Bodies& bodies, bool choose = true) : bodies_{bodies}, choose_{choose} {
    const auto size = bodies.positions.size();
    d_bodies_ = {device_, size};
    d_accelerations_ = {device_, size};
    d_targets_ = {device_, size};
    cuda::upload<Vec4>(bodies.positions, d_bodies_.data(), stream_.get());
    for (int index = 0; index < 2; ++index) {
      kernels_[index] = tree_info().make(settings, &device_);
      division(index).prepare_partition(bodies.count(), index, 2);
      if (choose_) choice(index).prepare_choice();
    }
  }

  struct Found {
    std::vector<Vec4> accelerations;
    std::size_t sent;  ///< bytes, by both
  };
  /// Evaluates some targets, or all bodies.
  Found evaluate(const std::vector<int>& targets = {}, const Law& law = {}) {
    cuda::upload<int>(targets, d_targets_.data(), stream_.get());
    const ForceArgs leading{.bodies = d_bodies_.data(),
                            .count = bodies_.count(),
                            .targets = {.indices = targets.empty() ? nullptr : d_targets_.data(),
                                        .count = static_cast<int>(targets.size())},
                            .masses = mass_range(bodies_.positions),
                            .law = law,
                            .epilogue = {.accelerations = d_accelerations_.data()},
                            .stream = stream_.get()};
    const ForceArgs args[] = {leading, args_for(leading, stream_.get())};
    const std::vector<Part> parts = PartSizes{2}.parts();
    Blocks shared = division(0).prepare_inputs(leading, parts);
    for (const DeviceBlock& block : division(0).input_of(leading, parts[1])) shared.push_back(block);
    copy(shared, division(1).receive(args[1], parts, shared));
    for (const int i : {0, 1}) division(i).begin_part(args[i], parts[static_cast<std::size_t>(i)]);
    const std::size_t sent = choose_ ? exchange_chosen(args) : exchange_all(args, parts);
    for (const int i : {0, 1}) division(i).evaluate_part(args[i], parts[static_cast<std::size_t>(i)]);
    copy(division(1).results(args[1], parts[1]), division(0).places(leading, parts[1]));
    division(0).join(leading, parts);
    Found found{.accelerations = std::vector<Vec4>(bodies_.positions.size()), .sent = sent};
    cuda::download<Vec4>(d_accelerations_.data(), found.accelerations, stream_.get());
    stream_.synchronize();
    return found;
  }

 private:
  using Blocks = PartitionFacet::Blocks;

  PartitionFacet& division(int index) { return *kernels_[index]->partition(); }
  ChoiceFacet& choice(int index) { return dynamic_cast<ChoiceFacet&>(division(index)); }
  std::size_t exchange_chosen(const ForceArgs (&args)[2]) {
    for (const int i : {0, 1}) copy({choice(i).outline()}, {choice(1 - i).place_of_outline(i)});
    std::size_t sent = 0;
    for (const int i : {0, 1}) {
      const Blocks chosen = choice(i).choose(args[i], [&] { stream_.synchronize(); })[static_cast<std::size_t>(1 - i)];
      std::vector<std::size_t> sizes;
      for (const DeviceBlock& block : chosen) sizes.push_back(block.bytes);
      copy(chosen, choice(1 - i).places_of_chosen(i, sizes));
      sent += std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    }
    for (const int i : {0, 1}) choice(i).take_chosen(args[i]);
    return sent;
  }
  std::size_t exchange_all(const ForceArgs (&args)[2], const std::vector<Part>& parts) {
    std::size_t sent = 0;
    for (const int i : {0, 1}) {
      const Part& part = parts[static_cast<std::size_t>(i)];
      const Blocks offer = division(i).offer(args[i], part);
      copy(offer, division(1 - i).places_of_offer(args[1 - i], part));
      for (const DeviceBlock& block : offer) sent += block.bytes;
    }
    return sent;
  }
  void copy(const Blocks& from, const Blocks& to) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from[i].bytes == 0) continue;
      ORRERY_CUDA_CHECK(
          cudaMemcpyAsync(to[i].data, from[i].data, from[i].bytes, cudaMemcpyDeviceToDevice, stream_.get()));
    }
  }

  const cuda::Device& device_{*test::backends().device()};
  const Bodies bodies_;
  const bool choose_;
  cuda::Stream stream_{device_};
  cuda::DeviceArray<Vec4> d_bodies_, d_accelerations_;
  cuda::DeviceArray<int> d_targets_;
  std::unique_ptr<ForceKernel> kernels_[2];
};

class ChosenTrees : public test::BackendTest, public testing::WithParamInterface<const char*> {
 protected:
  static Settings settings(const char* tolerance) {
    return Settings{tree_info(), {{"order", GetParam()}, {"tolerance", tolerance}}};
  }
  /// Not much greater than those of one device.
  static void expect_errors_of_one_device(const std::vector<Vec4>& found, const char* tolerance, const Bodies& bodies) {
    const auto alone = test::backends().make_kernel(tree_info(), settings(tolerance));
    const ForceError expected = error_of(test::evaluate(*alone, bodies, {.law = {}}).accelerations, bodies),
                     error = error_of(found, bodies);
    EXPECT_LE(error.median, 1.2 * expected.median);
    EXPECT_LE(error.p99, 1.5 * expected.p99);
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, ChosenTrees, testing::Values("monopole", "quadrupole", "local", "high"),
                         [](const auto& order) { return std::string{order.param}; });

TEST_P(ChosenTrees, AreSmallOnceTheWalksHaveNotedHowFarTheyOpenCells) {
  const Bodies bodies = test::random_ball(200'003);
  for (const char* tolerance : {"1e-3", "1e-5"}) {
    SCOPED_TRACE(tolerance);
    TwoTrees trees{settings(tolerance), bodies};
    const TwoTrees::Found first = trees.evaluate(), second = trees.evaluate();
    EXPECT_GT(first.sent, bodies.positions.size() * 20) << "all bodies, and their cells";
    // A small tolerance opens nearly all cells of so few bodies.
    EXPECT_LT(second.sent, tolerance == std::string_view{"1e-3"} ? first.sent * 2 / 3 : first.sent);
    for (const auto* found : {&first, &second}) expect_errors_of_one_device(found->accelerations, tolerance, bodies);
  }
}

TEST_P(ChosenTrees, DependOnDistancesAloneWithoutATolerance) {
  const Bodies bodies = test::random_ball(200'003);
  TwoTrees trees{settings("off"), bodies}, whole{settings("1e-3"), bodies};
  const TwoTrees::Found first = trees.evaluate(), second = trees.evaluate();
  EXPECT_EQ(first.sent, second.sent);
  EXPECT_LT(first.sent, whole.evaluate().sent * 2 / 3);
  expect_errors_of_one_device(first.accelerations, "off", bodies);
}

/// Pulls may be much weaker by another law.
TEST_P(ChosenTrees, AreWholeBehindAnotherLaw) {
  const Bodies bodies = test::random_ball(200'003);
  TwoTrees trees{settings("1e-3"), bodies};
  const TwoTrees::Found first = trees.evaluate();
  EXPECT_LT(trees.evaluate().sent, first.sent * 2 / 3);
  const Law other{.softening = 0.5f};
  EXPECT_GT(trees.evaluate({}, other).sent, bodies.positions.size() * 20);
  EXPECT_LT(trees.evaluate({}, other).sent, first.sent * 2 / 3);
}

/// As where GPUs of one process do not see each other's memory.
TEST_P(ChosenTrees, AreAllCellsAndBodiesIfTheyAreOffered) {
  const Bodies bodies = test::random_ball(200'003);
  TwoTrees trees{settings("1e-3"), bodies, /*choose=*/false};
  for (int turn = 0; turn < 2; ++turn) {
    const TwoTrees::Found found = trees.evaluate();
    EXPECT_GT(found.sent, bodies.positions.size() * 16);
    expect_errors_of_one_device(found.accelerations, "1e-3", bodies);
  }
}

/// Walks of some groups leave what the latest walk of all has noted.
TEST_P(ChosenTrees, StaySmallBehindEvaluationsOfFewTargets) {
  const Bodies bodies = test::random_ball(200'003);
  TwoTrees trees{settings("1e-3"), bodies};
  const TwoTrees::Found first = trees.evaluate(), second = trees.evaluate();
  for (const int size : {1, 3000}) {
    for (int turn = 0; turn < 3; ++turn) {
      const std::vector<int> targets = test::random_targets(bodies.count(), size);
      const TwoTrees::Found some = trees.evaluate(targets);
      EXPECT_LE(static_cast<double>(some.sent), 1.01 * static_cast<double>(second.sent));
      const std::vector<Vec3d> reference = reference_accelerations(bodies.positions, targets, {});
      EXPECT_LE(force_error(some.accelerations, targets, reference).p99, 0.02);
    }
    const TwoTrees::Found next = trees.evaluate();
    EXPECT_NEAR(static_cast<double>(next.sent), static_cast<double>(second.sent),
                0.01 * static_cast<double>(second.sent));
    EXPECT_LT(next.sent, first.sent * 2 / 3);
    expect_errors_of_one_device(next.accelerations, "1e-3", bodies);
  }
}

/// They alone do not tell how far the others open cells.
TEST_P(ChosenTrees, AreWholeUntilAllHaveWalked) {
  const Bodies bodies = test::random_ball(200'003);
  TwoTrees trees{settings("1e-3"), bodies}, whole{settings("1e-3"), bodies};
  const std::size_t all = whole.evaluate().sent;
  for (const int size : {1, 3000}) {
    EXPECT_EQ(trees.evaluate(test::random_targets(bodies.count(), size)).sent, all);
  }
  const TwoTrees::Found first = trees.evaluate();
  EXPECT_EQ(first.sent, all);
  expect_errors_of_one_device(first.accelerations, "1e-3", bodies);
  EXPECT_LT(trees.evaluate().sent, all * 2 / 3);
}

TEST(ChosenTreesOfRanks, ThatFindNoMemoryEndTheEvaluationOfAllAndNoMore) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  constexpr std::size_t mib = std::size_t{1} << 20;
  const Bodies bodies = test::random_ball(2'000'003);
  const cuda::Device& gpu = *test::backends().device();
  const test::RanksOn ranks{{.ordinals = {0, 0, 0}}};
  const auto kernel = ranks.backends().make_kernel(tree_info(), Settings{tree_info()});
  test::evaluate(*kernel, test::random_ball(20'000), {.law = {}});  // loads what it needs
  kernel->prepare(bodies.count());
  {
    // The test's own arrays for the evaluation: bodies, velocities and accelerations.
    const std::size_t own = 4 * bodies.positions.size() * sizeof(Vec4);
    const cuda::DeviceArray<char> taken{gpu, gpu.free_memory() - own - 64 * mib};
    // Ranks that share a GPU may take what another one has just found free: then the driver says so.
    const std::string message = test::failure_of([&] { test::evaluate(*kernel, bodies, {.law = {}}); }).message;
    EXPECT_TRUE(message.find("more than the GPU has free") != std::string::npos ||
                message.find("out of memory") != std::string::npos)
        << message;
  }
  for (int turn = 0; turn < 2; ++turn) {
    const ForceError error = error_of(test::evaluate(*kernel, bodies, {.law = {}}).accelerations, bodies);
    EXPECT_LE(error.median, tree_info().tolerance.median);
  }
}

}  // namespace
}  // namespace orrery
