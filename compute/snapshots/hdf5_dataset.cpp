#include "compute/snapshots/hdf5_dataset.h"

#include <algorithm>

namespace orrery {
namespace {

constexpr hsize_t rows_per_block = 65536;

/// Why its chunks cannot be unpacked here in bounded memory; empty if they can be.
std::string unpackable(const Hdf5Object& made, std::size_t value_bytes) {
  constexpr hsize_t most_chunk_bytes = hsize_t{256} << 20;
  std::array<hsize_t, 2> chunk{1, 1};
  H5Pget_chunk(made.id(), static_cast<int>(chunk.size()), chunk.data());
  if (chunk[0] == 0 || chunk[1] == 0) return "its chunks are empty: damaged";
  if (chunk[0] > most_chunk_bytes / chunk[1] / value_bytes) {
    return "its chunks of " + std::to_string(chunk[0]) + " x " + std::to_string(chunk[1]) +
           " values are larger than 256 MiB";
  }
  for (int filter = 0; filter < H5Pget_nfilters(made.id()); ++filter) {
    std::array<char, 64> name{};
    unsigned flags = 0, used = 0;
    std::size_t values = 0;
    const H5Z_filter_t id = H5Pget_filter2(made.id(), static_cast<unsigned>(filter), &flags, &values, nullptr,
                                           name.size(), name.data(), &used);
    if (H5Zfilter_avail(id) > 0) continue;
    return "compressed by the filter " + (name[0] ? std::string{name.data()} : std::to_string(id)) +
           ", which libhdf5 does not have here: compress it by gzip";
  }
  return {};
}

}  // namespace

std::optional<std::array<hsize_t, 2>> extent_of(const Hdf5Object& data) {
  const Hdf5Object space{H5Dget_space(data.id()), H5Sclose};
  const int rank = space ? H5Sget_simple_extent_ndims(space.id()) : -1;
  if (rank < 1 || rank > 2) return std::nullopt;
  std::array<hsize_t, 2> extent{0, 1};
  H5Sget_simple_extent_dims(space.id(), extent.data(), nullptr);
  return extent;
}

std::size_t number_bytes(const Hdf5Object& data) {
  const Hdf5Object kind{H5Dget_type(data.id()), H5Tclose};
  return kind && is_sound_number(kind.id()) ? H5Tget_size(kind.id()) : 0;
}

NumberKind kind_of(const Hdf5Object& data) {
  const Hdf5Object kind{H5Dget_type(data.id()), H5Tclose};
  if (H5Tget_class(kind.id()) != H5T_INTEGER) return NumberKind::real;
  return H5Tget_sign(kind.id()) == H5T_SGN_2 ? NumberKind::with_sign : NumberKind::whole;
}

std::string unreadable(const Hdf5Object& data) {
  const std::size_t value_bytes = number_bytes(data);
  if (value_bytes == 0) return "not numbers, or of a damaged type";
  const Hdf5Object made{H5Dget_create_plist(data.id()), H5Pclose};
  const H5D_layout_t layout = made ? H5Pget_layout(made.id()) : H5D_LAYOUT_ERROR;
  if (layout == H5D_VIRTUAL || H5Pget_external_count(made.id()) > 0) {
    return "its values are in other files: open one of these";
  }
  return layout == H5D_CHUNKED ? unpackable(made, value_bytes) : std::string{};
}

bool is_chunked(const Hdf5Object& data) {
  const Hdf5Object made{H5Dget_create_plist(data.id()), H5Pclose};
  return H5Pget_layout(made.id()) == H5D_CHUNKED;
}

hsize_t rows_at_once(const Hdf5Object& data) {
  if (!is_chunked(data)) return rows_per_block;
  const Hdf5Object made{H5Dget_create_plist(data.id()), H5Pclose};
  std::array<hsize_t, 2> chunk{1, 1};
  H5Pget_chunk(made.id(), static_cast<int>(chunk.size()), chunk.data());
  return chunk[0] > rows_per_block ? chunk[0] : rows_per_block / chunk[0] * chunk[0];
}

}  // namespace orrery
