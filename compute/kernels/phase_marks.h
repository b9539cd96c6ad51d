#pragma once

namespace orrery {

/// Is called where the phases of an evaluation begin and end, while their work is enqueued. May wait for that work, so
/// that a profiler measures each phase alone.
class PhaseMarks {
 public:
  virtual ~PhaseMarks() = default;
  virtual void begin(const char* phase) = 0;
  virtual void end() = 0;
};

}  // namespace orrery
