#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "app/colours/body_colour.h"

namespace orrery {

/// Returns a command that reads the accelerations; none during a CPU step or if those of the current step are known.
std::optional<Command> request_accelerations(const Status& status);

/// Values from the magnitudes of the latest accelerations that were read, each passed through `convert()`.
class AccelerationValues : public ColourValues {
 public:
  bool renew(const ValueSources& from, std::vector<float>& values) override;

 private:
  virtual float convert(const Status&, float acceleration) const { return acceleration; }

  std::shared_ptr<const Accelerations> taken_;
};

}  // namespace orrery
