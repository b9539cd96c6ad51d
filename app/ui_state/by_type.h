#pragma once

#include <any>
#include <map>
#include <typeindex>

namespace orrery {

/// One value of each type, value-initialized on first access. Features keep values here in owners that do not know
/// their types.
class ByType {
 public:
  template <class T>
  T& of() {
    std::any& value = values_[typeid(T)];
    if (!value.has_value()) value.emplace<T>();
    return *std::any_cast<T>(&value);
  }
  template <class T>
  const T& of() const {
    static const T initial{};
    const auto found = values_.find(typeid(T));
    return found == values_.end() ? initial : *std::any_cast<T>(&found->second);
  }

 private:
  std::map<std::type_index, std::any> values_;
};

}  // namespace orrery
