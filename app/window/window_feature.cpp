#include "app/window/window_feature.h"

#include "app/window/session.h"

namespace orrery {

std::vector<std::unique_ptr<WindowFeature>> make_features(Session& session) {
  std::vector<std::unique_ptr<WindowFeature>> made;
#define X(feature) made.push_back(make_##feature(session));
#include "window_list.inc"
#undef X
  return made;
}

}  // namespace orrery
