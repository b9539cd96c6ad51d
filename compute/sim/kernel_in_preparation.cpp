#include "compute/sim/kernel_in_preparation.h"

#include <utility>

#include "compute/core/threads.h"

namespace orrery {

KernelInPreparation::KernelInPreparation(const Backends& backends, KernelPtr kernel, Settings settings, int count)
    : backends_{backends}, kernel_{std::move(kernel)}, settings_{std::move(settings)}, count_{count} {}

std::shared_ptr<ForceKernel> KernelInPreparation::make() const {
  std::shared_ptr<ForceKernel> kernel = backends_.make_kernel(*kernel_, settings_);
  kernel->prepare(count_);
  return abandoned_ ? nullptr : kernel;
}

void KernelInPreparation::start() {
  if (std::exchange(started_, true)) return;
  thread_ = start_promised(promise_, [this](const std::stop_token& /*stop*/) { return make(); });
}

bool KernelInPreparation::ended() const {
  return is_ready(made_);
}

void KernelInPreparation::abandon() {
  abandoned_ = true;
  if (!std::exchange(started_, true)) promise_.set_value(nullptr);
}

}  // namespace orrery
