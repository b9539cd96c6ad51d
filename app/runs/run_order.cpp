#include "app/runs/run_order.h"

#include <limits>

#include "app/text/printable.h"

namespace orrery {
namespace {

std::string name_in(const JsonObject& json, const char* member) {
  const std::string text = json.text(member);
  if (text.find('\0') != text.npos) refuse_json(member, json.at(member), "the name of a file");
  return name_of_text(text);
}

}  // namespace

Json to_json(const RunOrder& order) {
  Json json = Json::object();
  if (order.steps) json["steps"] = *order.steps;
  if (order.until) json["until"] = *order.until;
  if (order.every) json["every"] = *order.every;
  json["snapshots"] = text_of_name(order.snapshots);
  json["snapshot_format"] = order.snapshot_format;
  json["diagnostics"] = text_of_name(order.diagnostics);
  json["checkpoint_every_s"] = order.checkpoint_every_s;
  return json;
}

RunOrder run_order_of(const JsonObject& json) {
  constexpr Range<std::int64_t> all_steps{0, std::numeric_limits<std::int64_t>::max()};
  RunOrder order;
  if (json.has("steps")) order.steps = json.number("steps", all_steps);
  if (json.has("until")) order.until = json.number("until", RunOrder::ends);
  if (json.has("every")) order.every = json.number("every", RunOrder::times);
  if (json.has("snapshots")) order.snapshots = name_in(json, "snapshots");
  if (json.has("snapshot_format")) order.snapshot_format = json.text("snapshot_format");
  if (json.has("diagnostics")) order.diagnostics = name_in(json, "diagnostics");
  if (json.has("checkpoint_every_s")) {
    order.checkpoint_every_s = json.number("checkpoint_every_s", RunOrder::checkpoint_times);
  }
  return order;
}

}  // namespace orrery
