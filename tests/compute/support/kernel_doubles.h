#pragma once

#include "compute/core/error.h"
#include "compute/kernels/kernel.h"
#include "tests/test.h"

namespace orrery::test {

/// Returns a kernel for catalogs, with only an id and a way to create it.
inline KernelInfo kernel_info(const char* id, decltype(KernelInfo::create) create) {
  return {.id = id,
          .title = id,
          .notes = "Of a test.",
          .source = "this test",
          .lesson = "none",
          .backend = Backend::cpu,
          .tunables = {},
          .tolerance = {.median = 1, .max = 1},
          .create = std::move(create)};
}

/// A CPU kernel for catalogs: accelerates every body by `strength` along x.
class UniformKernel final : public ForceKernel {
 public:
  explicit UniformKernel(float strength) : strength_{strength} {}
  void do_evaluate(const ForceArgs& args) override {
    for (int i = 0; i < args.count; ++i) args.epilogue.finish(i, args.bodies[i].w, {strength_, 0, 0});
  }

 private:
  float strength_;
};

/// Stands for an error after which a device does nothing more: that of the CPU engine, or another one.
class LostDevice final : public std::runtime_error, public DeviceLost {
 public:
  explicit LostDevice(const std::string& what, Backend backend = Backend::cpu)
      : std::runtime_error{what}, backend_{backend} {}
  Backend backend() const noexcept override { return backend_; }

 private:
  Backend backend_;
};

/// Stands for a loss of the bodies of the CPU engine.
struct LostBodies final : std::runtime_error, BodiesLost {
  using runtime_error::runtime_error;
  Backend backend() const noexcept override { return Backend::cpu; }
};

/// Stands for one on a GPU that is lost in the tenth evaluation.
class LosesItsDevice final : public ForceKernel {
 public:
  void do_evaluate(const ForceArgs& args) override {
    if (++evaluations_ == 10) throw LostDevice{"an illegal memory access"};
    uniform_.do_evaluate(args);
  }

 private:
  int evaluations_ = 0;
  UniformKernel uniform_{1};
};

/// Stands for a kernel on a GPU that does not end: nothing can cancel it. It hangs in each evaluation from the
/// `hangs_at`-th on, until `let_go`; from then on, it evaluates.
class HangingKernel final : public ForceKernel {
 public:
  explicit HangingKernel(int hangs_at = 10, const std::atomic<bool>* let_go = nullptr)
      : hangs_at_{hangs_at}, let_go_{let_go} {}
  void do_evaluate(const ForceArgs& args) override {
    const bool hangs = ++evaluations_ >= hangs_at_;
    while (hangs && !(let_go_ && *let_go_)) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    uniform_.do_evaluate(args);
  }

 private:
  int hangs_at_, evaluations_ = 0;
  const std::atomic<bool>* let_go_;
  UniformKernel uniform_{1};
};

/// Stands for a kernel from a file: "slow", with the tunable `block`. With block=256 it is there at once. With another
/// value it is compiled until the test ends that, with or without an error.
class SlowKernel {
 public:
  SlowKernel() = default;
  SlowKernel(const SlowKernel&) = delete;
  SlowKernel& operator=(const SlowKernel&) = delete;

  KernelInfo info() {
    static constexpr std::array values{"64", "128", "256"};
    static constexpr std::array tunables{
        Tunable{.name = "block", .notes = "Of a test.", .values = values, .initial = "256"}};
    KernelInfo info = kernel_info("slow", [this](const Settings& settings, const cuda::Device*) {
      if (settings.text("block") != "256") compile(settings.text("block"));
      return std::make_unique<Made>(*this);
    });
    info.tunables = tunables;
    info.compiles = true;
    return info;
  }

  /// Ends the compilation under way, and those that come: with this error, if it is one.
  void finish(const std::string& error = {}) {
    change([&] { error_ = error, finished_ = true; });
  }
  /// Returns how many of the kernels made still exist; destroyed_by(): how many a thread has destroyed.
  int present() const {
    const std::lock_guard lock{mutex_};
    return present_;
  }
  int destroyed_by(std::thread::id thread) const {
    const std::lock_guard lock{mutex_};
    return static_cast<int>(std::ranges::count(destroyers_, thread));
  }
  /// The values that were compiled, in their order: "64 128".
  std::string compiled() const {
    const std::lock_guard lock{mutex_};
    return compiled_;
  }

 private:
  struct Made final : ForceKernel {
    explicit Made(SlowKernel& maker) : slow{maker} {
      slow.change([this] { ++slow.present_; });
    }
    Made(const Made&) = delete;
    Made& operator=(const Made&) = delete;
    ~Made() override {
      slow.change([this] { --slow.present_, slow.destroyers_.push_back(std::this_thread::get_id()); });
    }
    void do_evaluate(const ForceArgs& args) override { uniform.do_evaluate(args); }

    SlowKernel& slow;
    UniformKernel uniform{1};
  };

  template <class Change>
  void change(Change change) {
    const std::lock_guard lock{mutex_};
    change();
    changed_.notify_all();
  }
  void compile(const std::string& block) {
    std::unique_lock lock{mutex_};
    compiled_ += (compiled_.empty() ? "" : " ") + block;
    changed_.wait(lock, [this] { return finished_; });
    if (!error_.empty()) throw std::runtime_error(error_);
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string error_, compiled_;
  bool finished_ = false;
  int present_ = 0;
  std::vector<std::thread::id> destroyers_;
};

/// Makes frames as a window does, until `ended` or for half a minute.
template <class Simulation, class Ended>
void run_frames_until(Simulation& sim, const Ended& ended) {
  for (int frame = 0; frame < 30'000 && !ended(); ++frame) {
    sim.advance_frame(frame);
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    (void)sim.collect();
  }
}

}  // namespace orrery::test
