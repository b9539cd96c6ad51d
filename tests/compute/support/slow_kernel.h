#pragma once

#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

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
      return std::make_unique<UniformKernel>(1.0f);
    });
    info.tunables = tunables;
    info.compiles = true;
    return info;
  }

  /// What is being compiled, and what comes, ends: with this error, if it is one.
  void finish(const std::string& error = {}) {
    change([&] { error_ = error, finished_ = true; });
  }
  /// The values that were compiled, in their order: "64 128".
  std::string compiled() const {
    const std::lock_guard lock{mutex_};
    return compiled_;
  }

 private:
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
};

}  // namespace orrery::test
