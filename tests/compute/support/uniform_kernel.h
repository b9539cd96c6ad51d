#pragma once

#include "compute/kernels/kernel.h"

namespace orrery::test {

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

}  // namespace orrery::test
