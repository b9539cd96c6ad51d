#include <algorithm>
#include <charconv>

#include "compute/core/names.h"
#include "compute/kernels/kernel.h"

namespace orrery {
namespace {

const Tunable* find_tunable(std::span<const Tunable> tunables, std::string_view name) {
  const auto found = std::ranges::find_if(tunables, [&](const Tunable& tunable) { return name == tunable.name; });
  return found == tunables.end() ? nullptr : &*found;
}

}  // namespace

const char* to_string(Backend backend) {
  return backend == Backend::cuda ? "cuda" : "cpu";
}

bool Tunable::allows(std::string_view value) const {
  return std::ranges::any_of(values, [&](const char* allowed) { return value == allowed; });
}

std::vector<std::string> Tunable::values_to_measure() const {
  const auto is_larger = [most = largest ? largest() : 0](std::string_view value) {
    int number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    return most > 0 && number > most;
  };
  std::vector<std::string> measured{values.begin(), values.end()};
  std::erase_if(measured, is_larger);
  return measured;
}

const Tunable* KernelInfo::tunable(std::string_view name) const {
  return find_tunable(tunables, name);
}

Settings::Settings(const KernelInfo& kernel, const Values& changes)
    : kernel_id_{kernel.id}, tunables_{kernel.tunables}, texts_{kernel.texts} {
  for (const Tunable& tunable : kernel.tunables) values_[tunable.name] = tunable.initial;
  set(changes);
}

const Tunable* Settings::tunable(std::string_view name) const {
  return find_tunable(tunables_, name);
}

void Settings::set(std::string_view name, std::string_view value) {
  const std::string id = kernel_id_ ? kernel_id_ : "no kernel";
  const Tunable* tunable = this->tunable(name);
  if (!tunable) {
    const std::string known = joined(tunables_, [](const Tunable& t) { return t.name; });
    throw UsageError("kernel " + id + " has no tunable '" + std::string{name} +
                     "'; it has: " + (known.empty() ? "none" : known) +
                     did_you_mean(name, tunables_, [](const Tunable& t) { return t.name; }));
  }
  if (!tunable->allows(value)) {
    throw UsageError(id + ": " + tunable->name + " cannot be '" + std::string{value} +
                     "'; allowed values: " + joined(tunable->values) +
                     did_you_mean(value, tunable->values, [](const char* allowed) { return allowed; }));
  }
  values_[tunable->name] = value;
}

void Settings::set(const Values& changes) {
  for (const auto& [name, value] : changes) set(name, value);
}

const std::string& Settings::text(std::string_view name) const {
  return values_.find(name)->second;
}

int Settings::integer(std::string_view name, int otherwise) const {
  const std::string& value = text(name);
  int number = otherwise;
  const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), number);
  return failed == std::errc{} && end == value.data() + value.size() ? number : otherwise;
}

std::string Settings::to_string() const {
  std::string text;
  for (const auto& [name, value] : values_) text += (text.empty() ? "" : " ") + name + "=" + value;
  return text;
}

Settings::Values Settings::values_of(std::string_view text) {
  Values values;
  while (!text.empty()) {
    const std::string_view setting = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(setting.size() + 1, text.size()));
    const std::size_t equals = setting.find('=');
    if (equals != std::string_view::npos) values.emplace(setting.substr(0, equals), setting.substr(equals + 1));
  }
  return values;
}

std::string Settings::changes() const {
  std::string text;
  for (const auto& [name, value] : values_) {
    if (value != tunable(name)->initial) text += (text.empty() ? "" : " ") + name + "=" + value;
  }
  return text;
}

}  // namespace orrery
