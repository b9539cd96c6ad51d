#pragma once

#include <array>

namespace orrery {

/// The parts of the laboratory.
enum class LabTab { results, speed_error, sweep, race, card, profile, conservation, compare, workshop };

struct LabTabInfo {
  LabTab tab;
  const char* id;  ///< what a script calls it
};
inline constexpr std::array lab_tabs{LabTabInfo{LabTab::results, "results"},
                                     LabTabInfo{LabTab::speed_error, "speed-error"},
                                     LabTabInfo{LabTab::sweep, "sweep"},
                                     LabTabInfo{LabTab::race, "race"},
                                     LabTabInfo{LabTab::card, "card"},
                                     LabTabInfo{LabTab::profile, "profile"},
                                     LabTabInfo{LabTab::conservation, "conservation"},
                                     LabTabInfo{LabTab::compare, "compare"},
                                     LabTabInfo{LabTab::workshop, "workshop"}};

}  // namespace orrery
