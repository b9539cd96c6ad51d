#pragma once

namespace orrery {

/// What needs the machine for itself, and the two ways to end it.
struct MachineUser {
  const char* name;    ///< "a race"
  const char* state;   ///< "a race is being measured"
  const char* button;  ///< of the window, with its place
  const char* command;
};

inline constexpr MachineUser sweep_user{"a sweep", "a sweep is being measured", "Stop in the tab Sweep", "stop-sweep"};
inline constexpr MachineUser race_user{"a race", "a race is being measured", "Stop in the tab Race", "stop-race"};
inline constexpr MachineUser lesson_user{"a lesson", "a lesson is being measured", "Stop in the lesson",
                                         "lesson-measure off"};
inline constexpr MachineUser comparison_user{"a comparison", "two runs are compared", "End in the tab Compare",
                                             "compare-with off"};

}  // namespace orrery
