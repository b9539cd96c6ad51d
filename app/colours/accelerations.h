#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "app/colours/body_colour.h"

namespace orrery {

/// Reads the accelerations: not during a CPU step, and only if those of this step are not known.
std::optional<Command> request_accelerations(const Status& status);

/// The magnitudes of the accelerations in the last evaluation, each passed through `convert()`.
class AccelerationValues : public ColourValues {
 public:
  bool renew(const ValueSources& from, std::vector<float>& values) override;

 private:
  virtual float convert(const Status&, float acceleration) const { return acceleration; }

  std::shared_ptr<const Accelerations> taken_;
};

}  // namespace orrery
