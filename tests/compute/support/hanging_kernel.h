#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/compute/support/uniform_kernel.h"

namespace orrery::test {

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

}  // namespace orrery::test
