#include "app/ui_state/kernel_history.h"

#include <utility>

namespace orrery {

Json history_json(const KernelHistory& history) {
  Json versions = Json::array();
  for (const auto& [facts, text] : history.versions) {
    Json version{{"time", facts.time},           {"compiles", facts.compiles}, {"accepted", facts.accepted},
                 {"unchecked", facts.unchecked}, {"error", facts.error},       {"compile_ms", facts.compile_ms},
                 {"check_s", facts.check_s},     {"remark", facts.remark}};
    if (facts.largest_error) version["largest_error"] = *facts.largest_error;
    versions.push_back(std::move(version));
  }
  return {{"file", history.file}, {"kernel", history.kernel_id}, {"versions", std::move(versions)}};
}

KernelHistory history_of(const Json& json) {
  KernelHistory history{.file = json.at("file"), .kernel_id = json.at("kernel"), .versions = {}};
  for (const Json& version : json.at("versions")) {
    WorkshopVersion facts{.number = static_cast<int>(history.versions.size()) + 1,
                          .time = version.at("time"),
                          .compiles = version.at("compiles"),
                          .accepted = version.at("accepted"),
                          .unchecked = version.at("unchecked"),
                          .error = version.at("error"),
                          .remark = version.at("remark"),
                          .compile_ms = version.at("compile_ms"),
                          .check_s = version.at("check_s")};
    if (version.contains("largest_error")) facts.largest_error = version["largest_error"].get<double>();
    history.versions.push_back({std::move(facts), {}});
  }
  return history;
}

}  // namespace orrery
