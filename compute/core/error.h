// Errors, their texts, and the backends that may be lost.
#pragma once

#include <array>
#include <exception>
#include <stdexcept>
#include <string>

namespace orrery {

/// A request that cannot be met as asked (an unknown name, a value out of range). The message is one line that names
/// the cause and the valid choices; the program exits with status 2. Anything else thrown is a run-time failure:
/// status 1.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns whether a library has thrown `failure`. Its text is then meant for programmers.
bool is_of_library(const std::exception& failure);

/// Returns what failed, as one line for people: the text of an exception of this program, and in place of a library's
/// text the file and the cause that it holds. An exception that no caller expects is named by its type.
std::string failure_text(const std::exception& failure);

/// The hardware that computes: the processor or a CUDA device.
enum class Backend { cpu, cuda };

/// Second base class of exceptions after which a backend has lost its bodies.
class BackendLost {
 public:
  virtual ~BackendLost() = default;
  virtual Backend backend() const noexcept = 0;
};

/// Loss of the device: this process cannot use it any more.
class DeviceLost : public BackendLost {};

/// Loss of the bodies alone: the device still works.
class BodiesLost : public BackendLost {};

/// Whether kernels of a backend can run in this process.
struct BackendStatus {
  bool available = false;
  std::string reason;  ///< why not and what cures it, one line; empty when available
  std::string device;  ///< the processor's or GPU's name; empty when unavailable
};

using BackendStatuses = std::array<BackendStatus, 2>;  ///< by Backend

}  // namespace orrery
