#include "app/process/build_id.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

namespace orrery {
namespace {

constexpr std::size_t aligned(std::size_t size) {
  return (size + 3) / 4 * 4;
}

/// Returns the build id among the notes of one segment; empty if there is none.
std::string id_among(std::span<const unsigned char> notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes.data(), sizeof note);
    const std::size_t name = sizeof note, value = name + aligned(note.n_namesz);
    if (value + note.n_descsz > notes.size()) break;
    if (note.n_type == NT_GNU_BUILD_ID && std::memcmp(notes.data() + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
      std::string id;
      for (const unsigned char byte : notes.subspan(value, note.n_descsz)) id += fmt::format("{:02x}", byte);
      return id;
    }
    notes = notes.subspan(std::min(notes.size(), value + aligned(note.n_descsz)));
  }
  return {};
}

/// Looks at the first object, which is the program: the nonzero result ends the iteration.
int find_id(dl_phdr_info* object, std::size_t, void* id) {
  for (const auto& segment : std::span{object->dlpi_phdr, object->dlpi_phnum}) {
    if (segment.p_type != PT_NOTE) continue;
    const auto* const notes = reinterpret_cast<const unsigned char*>(object->dlpi_addr + segment.p_vaddr);
    auto& found = *static_cast<std::string*>(id);
    if (found.empty()) found = id_among({notes, segment.p_memsz});
  }
  return 1;
}

}  // namespace

std::string build_id() {
  std::string id;
  dl_iterate_phdr(find_id, &id);
  return id.empty() ? "unknown" : id;
}

}  // namespace orrery
