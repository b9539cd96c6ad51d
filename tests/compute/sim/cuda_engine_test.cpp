// The CUDA engine: its bodies if memory is short, and how passes on a stream report bodies that are not finite.
#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/sim/cuda_bodies.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backend.h"
#include "tests/test.h"

namespace orrery {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

/// Has no memory for more than `most` bodies, and says so when the old ones are gone.
class ShortStorage final : public DeviceStorage {
 public:
  explicit ShortStorage(const cuda::Device& device) : storage_{device} {}
  void resize(int count) override {
    if (count > most) {
      storage_.resize(1);
      throw std::runtime_error("out of memory");
    }
    storage_.resize(count);
  }
  DeviceBodies map(CUstream_st* stream) override { return storage_.map(stream); }
  void unmap(CUstream_st* stream) override { storage_.unmap(stream); }

  int most = 1000;

 private:
  OwnStorage storage_;
};

class CudaEngineMemory : public test::BackendTest {
 protected:
  static const cuda::Device& gpu() { return *test::backends().device(); }
  static SceneRequest scene(int count) { return {.scene = "plummer", .count = count}; }
  static Simulation simulation(int count, DeviceStorage* storage = nullptr) {
    return Simulation{test::backends(), scene(count), test::find_kernel("cuda-naive"), storage};
  }
  /// Memory of the GPU, so that `bytes` are left.
  static cuda::DeviceArray<char> all_but(std::size_t bytes) { return {gpu(), gpu().free_memory() - bytes}; }
};

TEST_F(CudaEngineMemory, IsNotTakenFromCheckpointsThatOtherDigitsLeave) {
  constexpr int count = 8'000'000;  // 384 MB of low words, and 512 MB of checkpoints
  Simulation sim = simulation(2);
  Bodies bodies;
  for (int i = 0; i < count; ++i) bodies.positions.push_back({static_cast<float>(i), 0, 0, 1});
  bodies.velocities.resize(bodies.positions.size());
  sim.set_bodies(bodies);
  for (int i = 0; i < 2; ++i) {
    sim.apply(KeepCheckpoint{});
    EXPECT_EQ(sim.bodies().count(), count);  // waits
    EXPECT_EQ(sim.status().checkpoint_step, 0);
  }
  {
    const auto taken = all_but(250 * mib);
    EXPECT_USAGE_ERROR(sim.apply(SetDigits{Digits::compensated}),
                       "8000000 bodies with low words need more memory than the GPU has free; it has room for ");
  }
  EXPECT_EQ(sim.status().digits, Digits::single);
  EXPECT_EQ(sim.status().checkpoint_step, 0);
  EXPECT_EQ(sim.bodies(), bodies);
  sim.apply(SetDigits{Digits::compensated});
  EXPECT_EQ(sim.bodies(), with_digits(bodies, Digits::compensated));
}

TEST_F(CudaEngineMemory, IsCountedForTheBodiesInDoubleOfHermiteIntegrators) {
  Simulation sim = simulation(1000);
  test::apply(sim, SelectKernel{"cuda-jerk"}, SelectIntegrator{"hermite4"});
  sim.run(1);
  const Bodies before = sim.bodies();
  constexpr int count = 2'000'000;  // 96 MB, and 490 MB in double
  {
    const auto taken = all_but(550 * mib);  // of which 256 MB stay free
    EXPECT_USAGE_ERROR(sim.apply(LoadScene{scene(count)}),
                       "2000000 bodies for hermite4 need more memory than the GPU has free; it has room for ");
  }
  EXPECT_EQ(sim.bodies(), before);
  sim.run(1);
  Simulation same = simulation(1000);
  test::apply(same, SelectKernel{"cuda-jerk"}, SelectIntegrator{"hermite4"});
  same.run(2);
  EXPECT_EQ(sim.bodies(), same.bodies()) << "with all digits of the bodies in double";
}

TEST_F(CudaEngineMemory, ForMoreBodiesThatIsMissingBringsTheOldOnesBack) {
  ShortStorage storage{gpu()};
  Simulation sim = simulation(500, &storage);
  sim.apply(SetDigits{Digits::compensated});
  sim.run(3);
  const Bodies before = sim.bodies();
  EXPECT_RUNTIME_ERROR(sim.apply(LoadScene{scene(1001)}), "out of memory");
  EXPECT_EQ(sim.status().count, 500);
  EXPECT_EQ(sim.status().step, 3);
  EXPECT_EQ(sim.bodies(), before);
  sim.run(2);
  Simulation same = simulation(500);
  same.apply(SetDigits{Digits::compensated});
  same.run(5);
  EXPECT_EQ(sim.bodies(), same.bodies());
}

TEST_F(CudaEngineMemory, ForMoreBodiesThatIsMissingKeepsTheBodiesInDouble) {
  ShortStorage storage{gpu()};
  const auto hermite = [](Simulation& sim) {
    test::apply(sim, SelectKernel{"cuda-jerk"}, SelectIntegrator{"hermite4"});
    sim.run(3);
  };
  Simulation sim = simulation(500, &storage), same = simulation(500);
  hermite(sim), hermite(same);
  EXPECT_THROW(sim.apply(LoadScene{scene(1001)}), std::runtime_error);
  sim.run(5), same.run(5);
  EXPECT_EQ(sim.bodies(), same.bodies());
}

TEST_F(CudaEngineMemory, ThatIsMissingForTheOldBodiesAsWellLeavesACopyToTheProcessor) {
  ShortStorage storage{gpu()};
  Simulation sim = simulation(500, &storage);
  sim.run(3);
  const Bodies copy = sim.snapshot().bodies;
  sim.run(2);
  storage.most = 400;
  EXPECT_EQ(
      test::failure_of([&] { sim.apply(LoadScene{scene(1001)}); }).message,
      "the bodies cannot be brought back: out of memory; left are the bodies of step 3, with which cpu-simd can go "
      "on");
  EXPECT_EQ(sim.status().kernel_id, "cpu-simd");
  EXPECT_EQ(sim.bodies(), copy);
}

/// The storage is a buffer that is drawn, whoever makes its bodies.
TEST_F(CudaEngineMemory, OfAnEngineThatIsNotInUseNeedsNoBodies) {
  ShortStorage storage{gpu()};
  Simulation sim = simulation(500, &storage);
  test::apply(sim, SelectKernel{"cpu-serial"}, LoadScene{scene(30)});
  storage.resize(30);
  const Bodies bodies = sim.bodies();
  sim.apply(SelectKernel{"cuda-naive"});
  EXPECT_EQ(sim.bodies(), bodies);
  sim.apply(SelectKernel{"cpu-serial"});
  storage.resize(7);
  sim.apply(SelectKernel{"cuda-naive"});
  EXPECT_EQ(sim.bodies(), bodies);
}

TEST_F(CudaEngineMemory, ForAnotherKernelThatIsMissingLeavesTheOldOne) {
  constexpr int count = 300'000;  // a tree of them takes more than 16 MB
  Simulation sim = simulation(count);
  sim.run(1);
  const Bodies before = sim.bodies();
  {
    const auto taken = all_but(16 * mib);
    const std::string message = test::failure_of([&] { sim.apply(SelectKernel{"cuda-tree"}); }).message;
    EXPECT_TRUE(message.find("out of memory") != std::string::npos ||
                message.find("the GPU has free") != std::string::npos)
        << message;
    EXPECT_EQ(sim.status().kernel_id, "cuda-naive");
    EXPECT_EQ(sim.bodies(), before);
    sim.run(1);
  }
  sim.apply(SelectKernel{"cuda-tree"});
  sim.run(1);
  EXPECT_EQ(sim.status().step, 3);
}

TEST_F(CudaEngineMemory, OfBlockStepsIsGivenBackWithThem) {
  constexpr int count = 400'000;  // 12 MB of levels
  Simulation sim = simulation(2);
  Bodies bodies;
  for (int i = 0; i < count; ++i) bodies.positions.push_back({static_cast<float>(i), 0, 0, 1e-9f});
  bodies.velocities.resize(bodies.positions.size());
  sim.set_bodies(bodies);
  sim.apply(SelectIntegrator{"leapfrog-blocks"});
  sim.run(1);
  const std::size_t before = gpu().free_memory();
  sim.apply(SelectIntegrator{"leapfrog"});
  EXPECT_GE(gpu().free_memory(), before + 10 * mib);
}

TEST_F(CudaEngineMemory, ThatIsMissingForAPartLeavesNoOtherPart) {
  constexpr int count = 8'000'000;  // 256 MB of positions and velocities, and 384 MB of low words
  const cuda::Stream stream{gpu()};
  CudaBodies bodies{gpu(), nullptr, stream};
  bodies.resize(10, Digits::single);
  const auto taken = all_but(320 * mib);
  const std::size_t before = gpu().free_memory();
  EXPECT_THROW(bodies.resize(count, Digits::compensated), std::runtime_error);
  EXPECT_EQ(bodies.bytes(), 0u);
  EXPECT_GE(gpu().free_memory() + 4 * mib, before);
  bodies.resize(20, Digits::compensated);
  EXPECT_EQ(bodies.count(), 20);
}

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr int count = 1000;

class NonFiniteWatchTest : public test::BackendTest {
 protected:
  struct OnDevice {
    const cuda::Device& gpu = *test::backends().device();
    cuda::Stream stream{gpu};
    cuda::DeviceArray<Vec4> positions{gpu, count}, velocities{gpu, count}, accelerations{gpu, count};
    NonFiniteWatch watch{gpu, stream.get()};

    OnDevice() {
      put(positions, std::vector<Vec4>(count, Vec4{0, 0, 0, 1}));
      put(velocities, std::vector<Vec4>(count, Vec4{1, 0, 0, 0}));
      put(accelerations, std::vector<Vec4>(count));
    }
    void put(const cuda::DeviceArray<Vec4>& array, const std::vector<Vec4>& values) {
      cuda::upload<Vec4>(values, array.data(), stream.get());
      stream.synchronize();
    }
    void spoil(const cuda::DeviceArray<Vec4>& array, int body) {
      const Vec4 bad{0, nan_value, 0, 1};
      cuda::upload<Vec4>(std::span{&bad, 1}, array.data() + body, stream.get());
      stream.synchronize();
    }
    float x(int body) {
      Vec4 position;
      cuda::download<Vec4>(positions.data() + body, std::span{&position, 1}, stream.get());
      stream.synchronize();
      return position.x;
    }
    void look_after(std::int64_t step) {
      cuda::check_finite(positions.data(), velocities.data(), count, watch.report(), watch.pass_after(step),
                         stream.get());
    }
    void drift_in(std::int64_t step, bool changed_before = false, int drifts = 0) {
      const StateArrays arrays{
          .positions = positions.data(), .velocities = velocities.data(), .accelerations = accelerations.data()};
      cuda::kick_drift(gpu, arrays, count, {.kick_dt = 1, .drift_dt = 1}, watch.check_in(step, changed_before, drifts),
                       stream.get());
    }
    void expect_non_finite(std::int64_t step, int body) {
      stream.synchronize();
      ASSERT_TRUE(watch.found());
      EXPECT_EQ(watch.found()->step, step);
      EXPECT_EQ(watch.found()->body, body);
    }
  };
};

TEST_F(NonFiniteWatchTest, FiniteBodiesMoveOn) {
  OnDevice device;
  device.watch.count_from(7);
  device.look_after(7);
  device.drift_in(8);
  device.drift_in(9);
  device.look_after(9);
  device.stream.synchronize();
  EXPECT_FALSE(device.watch.found());
  EXPECT_EQ(device.x(count - 1), 2);
}

TEST_F(NonFiniteWatchTest, TheLowestBodyOfTheFirstPassCountsAndLaterPassesMoveNobody) {
  OnDevice device;
  device.watch.count_from(100);
  device.drift_in(101);
  device.spoil(device.velocities, 40);
  device.spoil(device.velocities, 17);
  device.look_after(101);
  device.spoil(device.velocities, 3);
  device.drift_in(102);
  device.look_after(102);
  device.expect_non_finite(101, 17);
  EXPECT_EQ(device.x(0), 1);
  device.watch.clear();
  device.watch.count_from(0);
  EXPECT_FALSE(device.watch.found());
  device.look_after(0);
  device.expect_non_finite(0, 3);
}

TEST_F(NonFiniteWatchTest, ADriftTellsWhatWasBadBeforeItFromWhatItMade) {
  OnDevice before;
  before.spoil(before.velocities, 999);
  before.drift_in(5);
  before.expect_non_finite(4, 999);

  OnDevice made;
  made.spoil(made.accelerations, 999);
  made.drift_in(5);
  made.expect_non_finite(5, 999);
  EXPECT_EQ(made.x(0), 1) << "the step is made for all bodies";

  OnDevice kicked_in_the_step;
  kicked_in_the_step.spoil(kicked_in_the_step.velocities, 999);
  kicked_in_the_step.drift_in(5, /*changed_before=*/true);
  kicked_in_the_step.expect_non_finite(5, 999);
}

TEST_F(NonFiniteWatchTest, TheFirstOfManyDriftsOfAStepCountsAndTheStepIsCompleted) {
  OnDevice device;
  device.drift_in(5);
  device.drift_in(5, /*changed_before=*/true, 1);
  device.spoil(device.accelerations, 40);
  device.drift_in(5, /*changed_before=*/true, 2);
  device.spoil(device.accelerations, 3);  // as by the pull of body 40
  device.drift_in(5, /*changed_before=*/true, 256);
  device.look_after(5);
  device.drift_in(6);
  device.expect_non_finite(5, 40);
  EXPECT_EQ(device.x(0), 4) << "no drift of the next step";
}

TEST_F(NonFiniteWatchTest, CountsFromABaseSoThatStepsFit) {
  OnDevice device;
  constexpr std::int64_t late = 50'000'000'000;
  EXPECT_FALSE(device.watch.reaches(late));
  device.watch.count_from(late);
  EXPECT_TRUE(device.watch.reaches(late + 1'000'000));
  device.spoil(device.positions, 500);
  device.drift_in(late + 1);
  device.expect_non_finite(late, 500);
  device.watch.count_from(0);
  device.expect_non_finite(late, 500);
}

}  // namespace
}  // namespace orrery
