#pragma once

#include "tests/compute/support/lost_device.h"
#include "tests/compute/support/uniform_kernel.h"

namespace orrery::test {

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

}  // namespace orrery::test
