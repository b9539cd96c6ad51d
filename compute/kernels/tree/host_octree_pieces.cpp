// The octree of a rank that has a part of the bodies.
#include <algorithm>
#include <numeric>
#include <span>

#include "compute/kernels/tree/host_octree.h"

namespace orrery {
namespace {

/// A cell as another rank gets it. Numbers are places in the message.
struct OpenedCell {
  int first_child, children;  ///< no children: a leaf, or a cell that is not opened
  BodyRange bodies;           ///< of an opened leaf; otherwise empty
  CellValues values{};
};

}  // namespace

void HostOctree::add_pieces(const KeyRange& domain, std::uint64_t first_key, int level, BodyRange bodies) {
  if (bodies.count() == 0) return;
  const std::uint64_t end_key = first_key + keys_in_cell(level);
  if (domain.begin <= first_key && end_key <= domain.end) return cells_.push_back({.bodies = bodies});
  for (std::uint64_t child = first_key; child != end_key; child += keys_in_cell(level + 1)) {
    const auto end =
        std::lower_bound(keys_.begin() + bodies.begin, keys_.begin() + bodies.end, child + keys_in_cell(level + 1),
                         [](const KeyedBody& body, std::uint64_t key) { return body.key < key; });
    const int end_body = static_cast<int>(end - keys_.begin());
    add_pieces(domain, child, level + 1, {bodies.begin, end_body});
    bodies.begin = end_body;
  }
}

CellValues HostOctree::values_of(std::size_t cell) const {
  CellValues values{};
  for (std::size_t which = 0; which < walk_values; ++which) values[which] = values_[which * values_stride_ + cell];
  return values;
}

void HostOctree::set_values(std::size_t cell, const CellValues& values) {
  for (std::size_t which = 0; which < walk_values; ++which) values_[which * values_stride_ + cell] = values[which];
}

std::vector<TreePiece> HostOctree::pieces() const {
  std::vector<TreePiece> pieces(place_of(top_.pieces));
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const BodyRange& bodies = cells_[i].bodies;
    pieces[i] = {.first_key = keys_[place_of(bodies.begin)].key,
                 .last_key = keys_[place_of(bodies.end - 1)].key,
                 .moments = moments_[i],
                 .box = boxes_[i],
                 .radius = radii_[i],
                 .values = values_of(i),
                 .second = second_rows_[i],
                 .high = high_rows_.empty() ? HighRow{} : high_rows_[i]};
  }
  return pieces;
}

void HostOctree::join(std::span<const TreePiece> pieces, int own, const Shape& shape) {
  top_.joined = true;
  top_.begin = static_cast<int>(cells_.size());
  top_.own = own;
  top_.parts.assign(1, {0, static_cast<int>(pieces.size())});
  top_.cells.resize(pieces.size());
  top_.bodies = bodies_.size();
  cells_.push_back({});
  for (std::size_t i = 0; i < top_.parts.size(); ++i) {
    const BodyRange part = top_.parts[i];
    const int index = top_.begin + static_cast<int>(i);
    if (part.count() == 1) {
      top_.cells[place_of(part.begin)] = index;
      continue;
    }
    const int level = common_level(pieces[place_of(part.begin)].first_key, pieces[place_of(part.end - 1)].last_key) + 1;
    const int first_child = static_cast<int>(cells_.size());
    for (int begin = part.begin, end = begin; begin < part.end; begin = end) {
      const auto child = [&](int piece) { return child_of_key(pieces[place_of(piece)].first_key, level); };
      while (end < part.end && child(end) == child(begin)) ++end;
      cells_.push_back({.bodies = {0, 0}, .parent = index, .level = level});
      top_.parts.push_back({begin, end});
    }
    deepest_ = std::max(deepest_, level);
    cells_[place_of(index)].first_child = first_child;
    cells_[place_of(index)].children = static_cast<int>(cells_.size()) - first_child;
  }
  top_.end = static_cast<int>(cells_.size());
  resize_moments(shape);
  for (std::size_t i = 0; i < pieces.size(); ++i) set_piece(static_cast<int>(i), pieces[i], shape);
  for (int cell = top_.end; cell-- > top_.begin;) {
    if (is_shared(cell)) find_moments_of(place_of(cell), shape);
  }
}

void HostOctree::set_piece(int piece, const TreePiece& from, const Shape& shape) {
  const int cell = top_.cells[place_of(piece)];
  const std::size_t index = place_of(cell);
  moments_[index] = from.moments;
  boxes_[index] = from.box;
  radii_[index] = from.radius;
  second_rows_[index] = from.second;
  if (shape.far == FarField::high) high_rows_[index] = from.high;
  set_values(index, from.values);
  const int own = piece - top_.own;
  if (own < 0 || own >= top_.pieces) return;
  OctreeCell& first = cells_[place_of(own)];
  first.level = cells_[index].level;
  cells_[index].bodies = first.bodies;
  cells_[index].first_child = first.first_child;
  cells_[index].children = first.children;
  for (int child = first.first_child; child < first.first_child + first.children; ++child) {
    cells_[place_of(child)].parent = cell;
  }
}

bool HostOctree::is_own(int cell) const {
  if (!top_.joined || cell < top_.begin) return true;
  if (cell >= top_.end) return false;
  const BodyRange part = top_.part(cell);
  return part.count() > 1 || (part.begin >= top_.own && part.begin < top_.own + top_.pieces);
}

void HostOctree::put_opened(const std::vector<char>& opened, bool moments, MessageWriter& message) const {
  std::vector<int> numbers(place_of(top_.pieces));  // of the cells in the message
  std::iota(numbers.begin(), numbers.end(), 0);
  int bodies = 0;
  const auto open = [&](int number) {
    const OctreeCell& cell = cells_[place_of(number)];
    OpenedCell to{};
    if (!opened[place_of(number)]) return to;
    if (cell.is_leaf()) {
      to.bodies = {bodies, bodies + cell.bodies.count()};
      bodies = to.bodies.end;
    } else {
      to.first_child = static_cast<int>(numbers.size());
      to.children = cell.children;
      for (int child = 0; child < cell.children; ++child) numbers.push_back(cell.first_child + child);
    }
    return to;
  };
  std::vector<OpenedCell> cells;
  for (std::size_t i = 0; i < numbers.size(); ++i) cells.push_back(open(numbers[i]));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t index = place_of(numbers[i]);
    cells[i].values = values_of(index);
    if (!opened[index]) cells[i].values[size_sq] = 0;  // as of a leaf
  }
  message.put_all(cells);
  const std::span<const int> all{numbers};
  const std::span<const int> described = moments ? all.subspan(place_of(top_.pieces)) : all.first(0);
  message.put(described.size());
  message.put_entries(second_rows_.data(), described);
  const std::span<const int> with_high = high_rows_.empty() ? all.first(0) : described;
  message.put(with_high.size());
  message.put_entries(high_rows_.data(), with_high);
  message.put(place_of(bodies));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].bodies.count() == 0) continue;
    const BodyRange from = cells_[place_of(numbers[i])].bodies;
    message.put_values(std::span{bodies_}.subspan(place_of(from.begin), place_of(from.count())));
  }
}

void HostOctree::take_opened(BodyRange pieces, const Shape& shape, MessageReader& message) {
  std::vector<OpenedCell> taken;
  message.get_all(taken);
  const int before = static_cast<int>(cells_.size()), body = static_cast<int>(bodies_.size());
  const auto index_of = [&](int number) {
    return number < pieces.count() ? top_.cells[place_of(pieces.begin + number)] : before + number - pieces.count();
  };
  cells_.resize(cells_.size() + taken.size() - place_of(pieces.count()));
  message.get_all(second_rows_);
  message.get_all(high_rows_);
  message.get_all(bodies_);
  resize_rows(shape);
  for (int i = 0; i < static_cast<int>(taken.size()); ++i) {
    const OpenedCell& from = taken[place_of(i)];
    const std::size_t index = place_of(index_of(i));
    OctreeCell& cell = cells_[index];
    cell.first_child = from.children > 0 ? index_of(from.first_child) : 0;
    cell.children = from.children;
    if (from.bodies.count() > 0) cell.bodies = {body + from.bodies.begin, body + from.bodies.end};
    set_values(index, from.values);
  }
  for (std::size_t axis = 0; axis < columns_.size(); ++axis) columns_[axis].resize(bodies_.size() + read_ahead);
  for (std::size_t i = place_of(body); i < bodies_.size(); ++i) {
    columns_[0][i] = bodies_[i].x, columns_[1][i] = bodies_[i].y, columns_[2][i] = bodies_[i].z;
    columns_[3][i] = bodies_[i].w;
  }
}

void HostOctree::close_others() {
  cells_.resize(place_of(top_.end));
  second_rows_.resize(cells_.size());
  high_rows_.resize(high_rows_.empty() ? 0 : cells_.size());
  bodies_.resize(top_.bodies);
  for (const int cell : top_.cells) {
    if (is_own(cell)) continue;
    cells_[place_of(cell)].bodies = {0, 0};
    cells_[place_of(cell)].children = 0;
  }
}

}  // namespace orrery
