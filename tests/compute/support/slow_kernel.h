#pragma once

#include <algorithm>
#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/compute/support/kernel_info.h"
#include "tests/compute/support/uniform_kernel.h"

namespace orrery::test {

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

}  // namespace orrery::test
