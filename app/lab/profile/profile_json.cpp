#include "app/lab/profile/profile_json.h"

#include <stdexcept>

#include "app/lab/profile/kernel_profile.h"

namespace orrery {
namespace {

constexpr const char* not_a_profile = "this is no profile of 'orrery profile --json'";

Json numbers_json(const std::map<std::string, double>& numbers) {
  Json json = Json::object();
  for (const auto& [id, value] : numbers) json[id] = json_number(value);
  return json;
}

/// Numbers that are known by their id; null stands for one that is not finite.
template <class Known>
std::map<std::string, double> numbers_of(const Json& json, const char* name, Known known) {
  std::map<std::string, double> numbers;
  const auto found = json.find(name);
  if (found == json.end()) return numbers;
  if (!found->is_object()) throw std::runtime_error(not_a_profile);
  for (const auto& [id, value] : found->items()) {
    if (value.is_number() && known(id)) numbers[id] = value.template get<double>();
  }
  return numbers;
}

template <class T>
void read_member(const Json& json, const char* name, T& value) {
  const auto found = json.find(name);
  if (found == json.end() || found->is_null()) return;
  try {
    value = found->get<T>();
  } catch (const Json::exception&) {
    throw std::runtime_error(std::string{not_a_profile} + ": its member '" + name + "' has another type");
  }
}

}  // namespace

Json profile_json(const KernelProfile& profile) {
  return {{"kernel", profile.kernel_id},
          {"settings", profile.settings},
          {"scene", profile.scene},
          {"n", profile.count},
          {"law", profile.law},
          {"device", profile.device},
          {"on_gpu", profile.on_gpu},
          {"chip", profile.chip},
          {"part", profile.part},
          {"passes", profile.passes},
          {"figures", numbers_json(profile.figures)},
          {"stalls", numbers_json(profile.stalls)},
          {"missing", profile.missing},
          {"problem", profile.problem}};
}

KernelProfile profile_of(const Json& json) {
  if (!json.is_object() || !json.contains("kernel")) throw std::runtime_error(not_a_profile);
  KernelProfile profile;
  read_member(json, "kernel", profile.kernel_id);
  read_member(json, "settings", profile.settings);
  read_member(json, "scene", profile.scene);
  read_member(json, "n", profile.count);
  read_member(json, "law", profile.law);
  read_member(json, "device", profile.device);
  read_member(json, "on_gpu", profile.on_gpu);
  read_member(json, "chip", profile.chip);
  read_member(json, "part", profile.part);
  read_member(json, "passes", profile.passes);
  read_member(json, "missing", profile.missing);
  read_member(json, "problem", profile.problem);
  profile.figures = numbers_of(json, "figures", [](const std::string& id) { return find_profile_figure(id); });
  profile.stalls = numbers_of(json, "stalls", [](const std::string& id) { return find_stall_reason(id); });
  return profile;
}

std::vector<KernelProfile> profiles_of(const Json& file) {
  const auto found = file.is_object() ? file.find("profiles") : file.end();
  if (found == file.end() || !found->is_array()) throw std::runtime_error(not_a_profile);
  std::vector<KernelProfile> profiles;
  for (const Json& profile : *found) profiles.push_back(profile_of(profile));
  return profiles;
}

std::vector<std::vector<std::string>> profile_csv(const KernelProfile& profile, const KernelProfile* before) {
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const char* kind, const char* id, double value, const char* unit, double change) {
    rows.push_back({profile.kernel_id, profile.settings, profile.scene, std::to_string(profile.count), profile.device,
                    profile.part, kind, id, csv_number(value), unit, csv_number(change)});
  };
  const KernelProfile none;
  const KernelProfile& earlier = before ? *before : none;
  for (const ProfileFigure& figure : profile_figures()) {
    if (profile.figures.contains(figure.id)) {
      add("figure", figure.id, profile.figure(figure.id), figure.unit, figure_change(figure, earlier, profile));
    }
  }
  for (const StallShare& share : stall_shares(profile)) {
    add("stall", share.reason->id, share.warps, "warps", relative_change(earlier.stall(share.reason->id), share.warps));
  }
  return rows;
}

}  // namespace orrery
