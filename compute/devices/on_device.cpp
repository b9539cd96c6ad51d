#include "compute/devices/on_device.h"

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/kernels/rank_device.h"

namespace orrery {
namespace {

/// As cuda::LostDeviceError, with the device in its text.
struct LostMember final : std::runtime_error, DeviceLost {
  using runtime_error::runtime_error;
  Backend backend() const noexcept override { return Backend::cuda; }
};

}  // namespace

void on_device(const cuda::Device& device, const std::function<void()>& work) {
  const auto named = [&](const std::exception& failure) {
    return "device " + std::to_string(device.ordinal()) + ": " + failure.what();
  };
  try {
    device.activate();
    work();
  } catch (const UsageError& failure) {
    throw UsageError{named(failure)};
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const Stopped&) {
    throw;
  } catch (const std::exception& failure) {
    if (dynamic_cast<const DeviceLost*>(&failure)) throw LostMember{named(failure)};
    throw std::runtime_error{named(failure)};
  }
}

}  // namespace orrery
