#include "render/passes/body_readback.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include "render/gl/gl.h"

namespace orrery::render {
namespace {

constexpr GLsizeiptr value_bytes = sizeof(glm::vec4);
constexpr GLbitfield access = GL_MAP_READ_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;

}  // namespace

BodyReadback::BodyReadback(int most)
    : most_{(most + 7) / 8 * 8},  // so that every driver can bind the beginning of each slot
      program_{ComputeShader{"bodies.glsl#read"}},
      indices_{static_cast<std::size_t>(most_) * sizeof(int)} {
  unsigned id = 0;
  glCreateBuffers(1, &id);
  copies_ = GlObject<delete_buffer>{id};
  const GLsizeiptr bytes = 2 * value_bytes * most_ * capacity;
  glNamedBufferStorage(id, bytes, nullptr, access | GL_CLIENT_STORAGE_BIT);
  mapped_ = static_cast<const glm::vec4*>(glMapNamedBufferRange(id, 0, bytes, access));
  if (!mapped_) throw std::runtime_error{"OpenGL has no memory to read bodies back"};
}

bool BodyReadback::request(const DrawnBodies& bodies, std::span<const int> indices, double time) {
  if (pending_ == capacity || indices.empty()) return false;
  const int at = (first_ + pending_) % capacity;
  gather(bodies, indices, at);
  Slot& slot = slots_[static_cast<std::size_t>(at)];
  slot.time = time;
  slot.indices.assign(indices.begin(), indices.end());
  slot.fence.set();
  ++pending_;
  return true;
}

/// Copies from one part of the drawn buffer per dispatch, because drivers may limit the size of shader buffers.
void BodyReadback::gather(const DrawnBodies& bodies, std::span<const int> indices, int slot) {
  if (std::ssize(indices) > most_) throw std::logic_error{"a request for more bodies than there is room for"};
  indices_.upload(std::as_bytes(indices));
  const GLintptr all = 2 * GLintptr{bodies.count};
  program_.set("count", bodies.count);
  program_.set("wanted", static_cast<int>(indices.size()));
  bind_storage(1, indices_);
  glBindBufferRange(GL_SHADER_STORAGE_BUFFER, 2, copies_.id(), slot * 2 * value_bytes * most_, 2 * value_bytes * most_);
  for (GLintptr begin = 0; begin < all; begin += most_bodies_per_dispatch) {
    const GLintptr held = std::min<GLintptr>(all - begin, most_bodies_per_dispatch);
    glBindBufferRange(GL_SHADER_STORAGE_BUFFER, 0, bodies.buffer, value_bytes * begin, value_bytes * held);
    program_.set("begin", static_cast<int>(begin));
    program_.set("held", static_cast<int>(held));
    dispatch_over(program_, indices.size());
  }
  glMemoryBarrier(GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT);
}

BodySample BodyReadback::taken(int slot) const {
  const Slot& copied = slots_[static_cast<std::size_t>(slot)];
  BodySample sample{.time = copied.time, .bodies = {}};
  const glm::vec4* copy = mapped_ + std::ptrdiff_t{2} * most_ * slot;
  sample.bodies.reserve(copied.indices.size());
  for (const int index : copied.indices) {
    sample.bodies.push_back({index, copy[0], copy[1]});
    copy += 2;
  }
  return sample;
}

std::optional<BodySample> BodyReadback::poll() {
  int newest = -1;
  while (pending_ > 0) {
    if (!slots_[static_cast<std::size_t>(first_)].fence.passed(false)) break;
    newest = first_;
    drop_oldest();
  }
  return newest < 0 ? std::nullopt : std::optional{taken(newest)};
}

void BodyReadback::cancel() {
  while (pending_ > 0) drop_oldest();
}

/// GL executes commands in order, so a later copy into the same slot follows the discarded one.
void BodyReadback::drop_oldest() {
  slots_[static_cast<std::size_t>(first_)].fence.clear();
  first_ = (first_ + 1) % capacity;
  --pending_;
}

BodySample BodyReadback::read(const DrawnBodies& bodies, std::span<const int> indices, double time) {
  cancel();
  request(bodies, indices, time);
  glFinish();
  BodySample sample = taken(first_);
  drop_oldest();
  return sample;
}

}  // namespace orrery::render
