#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <string>

#include "compute/core/atomic_file.h"
#include "compute/snapshots/gadget_file.h"
#include "compute/snapshots/gadget_header.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

using gadget_record::label_payload, gadget_record::mark_bytes, gadget_record::values_per_block;

/// Writes values into records.
class RecordsOut {
 public:
  RecordsOut(AtomicFile& out, const Bytes& bytes, GadgetType type) : out_{out}, bytes_{bytes}, type_{type} {}

  void begin(const char* label, std::uint64_t length) {
    length_ = static_cast<std::uint32_t>(length);
    if (type_ == GadgetType::labelled) {
      add(label_payload);
      for (const char* c = label; *c; ++c) block_.push_back(static_cast<std::byte>(*c));
      add(length_ + 2 * static_cast<std::uint32_t>(mark_bytes));
      add(label_payload);
    }
    add(length_);
  }
  void add(std::uint32_t word) {
    block_.resize(block_.size() + sizeof word);
    bytes_.store32(&block_[block_.size() - sizeof word], word);
    if (block_.size() >= values_per_block * sizeof(float)) flush();
  }
  void add(float value) { add(std::bit_cast<std::uint32_t>(value)); }
  void add(std::span<const std::byte> bytes) { block_.insert(block_.end(), bytes.begin(), bytes.end()); }
  void add64(std::uint64_t word) {
    std::array<std::byte, sizeof word> bytes;
    bytes_.store64(bytes.data(), word);
    add(bytes);
    if (block_.size() >= values_per_block * sizeof(float)) flush();
  }
  void end() { add(length_); }
  void flush() {
    out_.write({reinterpret_cast<const char*>(block_.data()), block_.size()});
    block_.clear();
  }

 private:
  AtomicFile& out_;
  const Bytes bytes_;
  const GadgetType type_;
  std::vector<std::byte> block_;
  std::uint32_t length_ = 0;
};

/// Readers such as yt take gas for damaged without these. Orrery has no energy and no density: they are 0.
void write_gas(RecordsOut& records, const SnapshotView& snapshot, std::uint64_t count) {
  constexpr float without_softening = 0.1f;
  const std::vector<float>& softening = snapshot.properties.softening;
  const auto smoothing = [&](std::size_t body) {
    const float length = softening.empty() ? snapshot.softening : softening[body];
    return length > 0 ? length : without_softening;
  };
  for (const char* const label : {"U   ", "RHO ", "HSML"}) {
    const bool length = label[0] == 'H';
    records.begin(label, sizeof(float) * count);
    for_each_of(snapshot, Species::gas, [&](std::size_t body) { records.add(length ? smoothing(body) : 0.0f); });
    records.end();
  }
}

}  // namespace

std::vector<fs::path> write_gadget(const fs::path& file, const SnapshotView& snapshot, const SnapshotOutput& output,
                                   GadgetType type) {
  constexpr std::uint64_t most = 0xffffffffu / 12;
  const GadgetHeader header = gadget_header_of(snapshot);
  const std::vector<std::uint64_t>& ids = snapshot.properties.ids;
  const std::uint64_t count = header.bodies();
  if (count > most) {
    throw std::runtime_error("'" + file.string() + "': not written: a GADGET file holds at most " +
                             std::to_string(most) + " bodies; write GADGET HDF5");
  }
  const bool wide = std::ranges::any_of(ids, [](std::uint64_t id) { return id > 0xffffffffu; });
  const auto for_each_body = [&](const auto& visit) {
    for (std::size_t kind = 0; kind < species_count; ++kind) {
      if (header.counts[kind] > 0) for_each_of(snapshot, static_cast<Species>(kind), visit);
    }
  };

  AtomicFile out{file, output.existing};
  const Bytes bytes{output.order.value_or(ByteOrder::little)};
  RecordsOut records{out, bytes, type};
  std::array<std::byte, GadgetHeader::bytes> head;
  store_gadget_header(header, head, bytes);
  records.begin("HEAD", head.size());
  records.add(head);
  records.end();
  const std::pair<const char*, const Vec4& (BodySource::*)(std::size_t)> vectors[] = {{"POS ", &BodySource::position},
                                                                                      {"VEL ", &BodySource::velocity}};
  for (const auto& [label, vector] : vectors) {
    records.begin(label, 12 * count);
    for_each_body([&, get = vector](std::size_t body) {
      const Vec4& v = (*snapshot.bodies.*get)(body);
      for (const float component : {v.x, v.y, v.z}) records.add(component);
    });
    records.end();
  }
  records.begin("ID  ", (wide ? 8 : 4) * count);
  for_each_body([&](std::size_t body) {
    const std::uint64_t id = ids.empty() ? body + std::uint64_t{1} : ids[body];
    wide ? records.add64(id) : records.add(static_cast<std::uint32_t>(id));
  });
  records.end();
  if (header.own_masses() > 0) {
    records.begin("MASS", 4 * header.own_masses());
    for (std::size_t kind = 0; kind < species_count; ++kind) {
      if (header.counts[kind] == 0 || header.masses[kind] != 0) continue;
      for_each_of(snapshot, static_cast<Species>(kind),
                  [&](std::size_t body) { records.add(snapshot.bodies->position(body).w); });
    }
    records.end();
  }
  if (header.counts[0] > 0) write_gas(records, snapshot, header.counts[0]);
  records.flush();
  return {out.commit()};
}

}  // namespace orrery
