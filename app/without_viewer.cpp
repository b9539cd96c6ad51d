// Stands for app/window in a build without it.
#include <stdexcept>

#include "app/window/keys.h"
#include "app/window/run_view.h"

namespace orrery {
namespace {

constexpr const char* cure = "configure with -DORRERY_VIEWER=ON and build again";

}  // namespace

int run_view(KernelCatalog&, const ViewOptions&, NextProgram*) {
  throw std::runtime_error(std::string{"the viewer was not built: "} + cure +
                           "; bench, report, verify, convert, inspect, kernels and info work");
}

std::optional<std::filesystem::path> take_handover(std::vector<std::string>&) {
  return std::nullopt;
}

ViewOptions options_after_handover(ViewOptions options, const std::filesystem::path&) {
  return options;
}

std::string continuation(const std::filesystem::path&) {
  return {};
}

std::string start_anew(const std::filesystem::path&, const std::vector<std::string>&) {
  return {};
}

std::string key_table(const TextStyle&) {
  throw std::runtime_error(std::string{"the viewer was not built: "} + cure);
}

ReportPicture picture_scene(KernelCatalog&, const SceneRequest&, WindowSize, render::Theme, std::optional<int>) {
  return {.words = "There is no picture: the viewer was not built."};
}

void probe_window(GlReport&) {}

GlReport probe_gl(const KernelCatalog&) {
  return {.problem = "the viewer was not built", .cure = cure};
}

}  // namespace orrery
