#include "app/runs/run_order.h"

#include <fmt/format.h>

#include <stdexcept>

namespace orrery {
namespace {

template <class Value>
void read(const Json& json, const char* name, Value& value) {
  if (const auto found = json.find(name); found != json.end()) value = found->get<Value>();
}

template <class Value>
void read(const Json& json, const char* name, std::optional<Value>& value) {
  if (const auto found = json.find(name); found != json.end() && !found->is_null()) value = found->get<Value>();
}

}  // namespace

Json to_json(const RunOrder& order) {
  Json json = Json::object();
  if (order.steps) json["steps"] = *order.steps;
  if (order.until) json["until"] = *order.until;
  if (order.every) json["every"] = *order.every;
  json["snapshots"] = order.snapshots;
  json["snapshot_format"] = order.snapshot_format;
  json["diagnostics"] = order.diagnostics;
  json["checkpoint"] = order.checkpoint;
  json["checkpoint_every_s"] = order.checkpoint_every_s;
  return json;
}

RunOrder run_order_of(const Json& json) {
  RunOrder order;
  try {
    read(json, "steps", order.steps);
    read(json, "until", order.until);
    read(json, "every", order.every);
    read(json, "snapshots", order.snapshots);
    read(json, "snapshot_format", order.snapshot_format);
    read(json, "diagnostics", order.diagnostics);
    read(json, "checkpoint", order.checkpoint);
    read(json, "checkpoint_every_s", order.checkpoint_every_s);
  } catch (const Json::exception& error) {
    throw std::runtime_error(fmt::format("its order cannot be read: {}", error.what()));
  }
  const bool usable = (!order.steps || *order.steps >= 0) && (!order.until || RunOrder::times.contains(*order.until)) &&
                      (!order.every || RunOrder::times.contains(*order.every)) &&
                      RunOrder::checkpoint_times.contains(order.checkpoint_every_s);
  if (!usable) throw std::runtime_error("its order has a value out of range");
  return order;
}

}  // namespace orrery
