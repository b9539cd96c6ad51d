#include "app/panels/kit/slider.h"

#include <imgui_internal.h>

#include <type_traits>

#include "app/panels/kit/ui_mark.h"
#include "app/panels/kit/widgets.h"

namespace orrery {

template <class T>
bool filled_slider(const char* label, T& value, const Range<T>& span, const char* format, int flags) {
  constexpr ImGuiDataType type = std::is_same_v<T, float> ? ImGuiDataType_Float : ImGuiDataType_S32;
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const ImRect frame{low, {low.x + ImGui::CalcItemWidth(), low.y + ImGui::GetFrameHeight()}};
  T shown = value;
  ImRect handle;  // that ImGui would draw; as long as this id is not active, nothing else is done
  ImGui::SliderBehavior(frame, ImGui::GetID("fill"), type, &shown, &span.least, &span.most, format, flags, &handle);
  const bool active = ImGui::GetActiveID() == ImGui::GetID(label);
  ImGui::GetWindowDrawList()->AddRectFilled(
      low, {handle.GetCenter().x, frame.Max.y},
      ImGui::GetColorU32(active ? ImGuiCol_SliderGrabActive : ImGuiCol_SliderGrab), ImGui::GetStyle().FrameRounding,
      ImDrawFlags_RoundCornersLeft);
  for (const ImGuiCol handles : {ImGuiCol_SliderGrab, ImGuiCol_SliderGrabActive}) ImGui::PushStyleColor(handles, 0);
  const bool changed = ImGui::SliderScalar(label, type, &value, &span.least, &span.most, format, flags);
  ImGui::PopStyleColor(2);
  return changed;
}
template bool filled_slider(const char*, float&, const Range<float>&, const char*, int);
template bool filled_slider(const char*, int&, const Range<int>&, const char*, int);

template <class T>
std::optional<T> log_slider(const char* id, T current, const Range<T>& span, const char* format, std::optional<T> own) {
  constexpr bool real = std::is_same_v<T, float>;
  ImGui::PushID(id);
  // The window's storage holds the value that is being typed or dragged.
  ImGuiStorage& storage = *ImGui::GetStateStorage();
  const ImGuiID draft = ImGui::GetID("draft"), editing = ImGui::GetID("editing");
  T value = current;
  if (storage.GetBool(editing)) {
    if constexpr (real) {
      value = storage.GetFloat(draft);
    } else {
      value = storage.GetInt(draft);
    }
  }
  const bool changed = filled_slider("##slider", value, span, format, ImGuiSliderFlags_Logarithmic);
  const bool dragged = changed && ImGui::IsMouseDown(ImGuiMouseButton_Left) && !ImGui::GetIO().WantTextInput;
  const bool ended = ImGui::IsItemDeactivatedAfterEdit(),
             restored = own && double_clicked(ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
  if (restored) value = *own;
  storage.SetBool(editing, ImGui::IsItemActive());
  if constexpr (real) {
    storage.SetFloat(draft, value);
  } else {
    storage.SetInt(draft, value);
  }
  ImGui::PopID();
  ui_mark(id);
  if ((dragged || ended || restored) && value != current) return value;
  return std::nullopt;
}
template std::optional<float> log_slider(const char*, float, const Range<float>&, const char*, std::optional<float>);
template std::optional<int> log_slider(const char*, int, const Range<int>&, const char*, std::optional<int>);

}  // namespace orrery
