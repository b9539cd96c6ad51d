#include "compute/ranks/shared_potentials.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "compute/diagnostics/conserved.h"
#include "compute/ranks/orders.h"

namespace orrery {
namespace {

/// The bodies of one rank's part, each of which meets those before it: so the first ranks get more bodies.
struct Rows {
  int first = 0, last = 0;

  static Rows of(int rank, int ranks, int count) {
    const auto border = [&](int at) {
      return static_cast<int>(std::lround(count * std::sqrt(static_cast<double>(at) / ranks)));
    };
    return {border(rank), border(rank + 1)};
  }
  std::size_t size() const { return static_cast<std::size_t>(last - first); }
};

/// The first of these bodies, up to the last that the part meets.
std::span<const Vec4> met_by(const Rows& rows, const std::vector<Vec4>& bodies) {
  return std::span{bodies}.first(bodies.empty() ? 0 : static_cast<std::size_t>(rows.last));
}

void put_part(const Bodies& bodies, const Rows& rows, const Law& law, MessageWriter& order) {
  order.put(Order::potentials);
  order.put(law);
  order.put(rows);
  order.put(bodies.digits());
  order.put_values(met_by(rows, bodies.positions));
  order.put_values(met_by(rows, bodies.positions_low));
}

}  // namespace

std::vector<double> shared_potentials(WorkerLine& line, const Bodies& bodies, const Law& law,
                                      const std::atomic<bool>* cancelled) {
  std::vector<double> all(bodies.positions.size());
  const auto rows_of = [&](int rank) { return Rows::of(rank, line.ranks(), bodies.count()); };
  line.exchange({.order = [&](int rank, MessageWriter& order) { put_part(bodies, rows_of(rank), law, order); },
                 .own_part =
                     [&] {
                       const Rows own = rows_of(0);
                       std::ranges::copy(potentials_with_earlier(bodies.positions, bodies.positions_low, own.first,
                                                                 own.last, law, cancelled),
                                         all.begin());
                     },
                 .take =
                     [&](int rank, MessageReader& reply) {
                       const Rows rows = rows_of(rank);
                       reply.get_values(std::span{all}.subspan(static_cast<std::size_t>(rows.first), rows.size()));
                     },
                 .cancelled = cancelled});
  return all;
}

std::vector<double> potentials_of_part(MessageReader& order, const std::atomic<bool>& cancelled) {
  const auto law = order.get<Law>();
  const auto rows = order.get<Rows>();
  const bool has_low_words = order.get<Digits>() == Digits::compensated;
  std::vector<Vec4> positions(static_cast<std::size_t>(rows.last)), low(has_low_words ? positions.size() : 0);
  order.get_values(std::span{positions});
  order.get_values(std::span{low});
  return potentials_with_earlier(positions, low, rows.first, rows.last, law, &cancelled);
}

}  // namespace orrery
