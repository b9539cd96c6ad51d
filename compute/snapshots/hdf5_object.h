#pragma once

#include <hdf5.h>

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace orrery {

/// What libhdf5 opened, and closes again.
class Hdf5Object {
 public:
  using Close = herr_t (*)(hid_t);

  Hdf5Object() = default;
  Hdf5Object(hid_t id, Close close) : id_{id}, close_{close} {}
  Hdf5Object(Hdf5Object&& other) noexcept : id_{std::exchange(other.id_, -1)}, close_{other.close_} {}
  Hdf5Object& operator=(Hdf5Object&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Hdf5Object() {
    if (id_ >= 0) close_(id_);
  }

  hid_t id() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }  ///< false: it could not be opened

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// Takes libhdf5, which serves one thread at a time, and keeps it from printing its errors. The functions below need
/// it.
class Hdf5Turn {
 public:
  Hdf5Turn();
  Hdf5Turn(const Hdf5Turn&) = delete;
  ~Hdf5Turn();
};

/// How files are opened: without locks, which AtomicFile holds and a read-only disk may not have.
Hdf5Object unlocked_access();

/// Thrown if an object is a link to another file, which is never followed. The text is one clause that names both.
struct ForeignLink : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Open the object at a path such as "Header" or "PartType1/Coordinates". Return none if there is none of this kind.
/// Throw ForeignLink.
Hdf5Object open_object(hid_t in, const std::string& path);
Hdf5Object open_group(hid_t in, const std::string& path);
Hdf5Object open_dataset(hid_t in, const std::string& path);

/// Whether it is a type of whole or real numbers whose bits all lie within its bytes. libhdf5 reads beyond its memory
/// if they do not.
bool is_sound_number(hid_t type);

/// Up to `most` numbers of an attribute; empty if there is none, or it holds no numbers.
std::vector<double> attribute_numbers(hid_t in, const char* name, std::size_t most);
/// The first number; nothing if there is none.
std::optional<double> attribute_number(hid_t in, const char* name);

void write_attribute(hid_t in, const char* name, std::span<const double> values);
void write_attribute(hid_t in, const char* name, std::span<const std::uint32_t> values);
void write_attribute(hid_t in, const char* name, double value);
void write_attribute(hid_t in, const char* name, std::int32_t value);

/// Throws std::runtime_error with `what` if a call of libhdf5 failed.
inline void require_hdf5(bool succeeded, const char* what) {
  if (!succeeded) throw std::runtime_error(what);
}

}  // namespace orrery
