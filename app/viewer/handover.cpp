#include "app/viewer/handover.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "app/commands/command_json.h"
#include "app/text/input_file.h"
#include "compute/core/atomic_file.h"
#include "compute/core/error.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

fs::path file_in(const fs::path& folder) {
  return folder / "handover.json";
}
fs::path memory_in(const fs::path& folder) {
  return folder / "window.json";
}
/// Texts of kernel files may be longer than read_json() allows a text to be: each has a file of its own.
fs::path kernel_in(const fs::path& folder) {
  return folder / "kernel.cu";
}
fs::path version_in(const fs::path& folder, std::size_t number) {
  return folder / fmt::format("version-{}.cu", number);
}

Json camera_json(const CameraView& view) {
  return {view.azimuth, view.elevation, view.distance, view.target.x, view.target.y, view.target.z};
}

CameraView camera_of(const Json& json) {
  return {.azimuth = json.at(0),
          .elevation = json.at(1),
          .distance = json.at(2),
          .target = {json.at(3).get<double>(), json.at(4).get<double>(), json.at(5).get<double>()}};
}

Json requests_json(const Requests& requests) {
  Json json = Json::array();
  for (const Request& request : requests) json.push_back(command_json(request));
  return json;
}

Requests requests_of(const Json& json) {
  Requests requests;
  for (const Json& request : json) requests.push_back(command_of(request));
  return requests;
}

void write_texts(const fs::path& folder, const KernelHistory& history) {
  std::size_t number = 0;
  for (const auto& version : history.versions)
    write_file(version_in(folder, ++number), version.text, Existing::replace);
}

void read_texts(const fs::path& folder, KernelHistory& history) {
  std::size_t number = 0;
  for (auto& version : history.versions) version.text = read_text(version_in(folder, ++number).string());
}

Handover handover_of(const fs::path& folder, const Json& json) {
  Handover handover;
  handover.message = json.at("message");
  handover.same_kernel = json.at("same_kernel");
  handover.requests = requests_of(json.at("requests"));
  handover.picks = requests_of(json.at("picks"));
  handover.camera = camera_of(json.at("camera"));
  if (json.contains("recording")) handover.recording = json["recording"].get<std::string>();
  if (json.contains("kernel")) {
    const Json& kernel = json["kernel"];
    handover.kernel = {
        .file = kernel.at("file"), .text = read_text(kernel_in(folder).string()), .version = kernel.at("version")};
  }
  if (json.contains("workshop")) {
    handover.workshop = history_of(json["workshop"]);
    read_texts(folder, *handover.workshop);
  }
  return handover;
}

}  // namespace

void write_handover(const fs::path& folder, const Handover& handover) {
  Json json{{"message", handover.message},
            {"same_kernel", handover.same_kernel},
            {"requests", requests_json(handover.requests)},
            {"picks", requests_json(handover.picks)},
            {"camera", camera_json(handover.camera)}};
  if (handover.recording) json["recording"] = *handover.recording;
  if (const auto& kernel = handover.kernel) {
    json["kernel"] = {{"file", kernel->file}, {"version", kernel->version}};
    write_file(kernel_in(folder), kernel->text, Existing::replace);
  }
  if (handover.workshop) {
    json["workshop"] = history_json(*handover.workshop);
    write_texts(folder, *handover.workshop);
  }
  const auto as_it_is = Json::error_handler_t::replace;  // a name of a file may have bytes that are no UTF-8
  write_file(file_in(folder), json.dump(-1, ' ', false, as_it_is), Existing::replace);
  write_window_memory(memory_in(folder), handover.window);
}

Handover read_handover(const fs::path& folder) {
  const Json json = read_json(file_in(folder).string());
  try {
    Handover handover = handover_of(folder, json);
    handover.window = read_window_memory(memory_in(folder));
    return handover;
  } catch (const UsageError& error) {
    throw std::runtime_error(fmt::format("'{}': {}", file_in(folder).string(), error.what()));
  } catch (const Json::exception&) {
    throw std::runtime_error(fmt::format("'{}': a value is missing or of another type", file_in(folder).string()));
  }
}

void remove_handover(const fs::path& folder) {
  std::error_code ignored;
  for (const fs::path& file :
       {file_in(folder), memory_in(folder), Handover::checkpoint_in(folder), kernel_in(folder)}) {
    fs::remove(file, ignored);
  }
  std::size_t number = 1;
  while (fs::remove(version_in(folder, number), ignored)) ++number;
  fs::remove(folder, ignored);
}

}  // namespace orrery
