#include "render/passes/body_readback.h"

#include <cstddef>
#include <cstring>

#include "render/gl/gl.h"

namespace orrery::render {
namespace {

constexpr GLsizeiptr vec4_bytes = sizeof(glm::vec4), slot_bytes = 2 * vec4_bytes;
constexpr GLbitfield access = GL_MAP_READ_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;

GLintptr position_of(int index) {
  return vec4_bytes * index;
}
GLintptr velocity_of(const DrawnBodies& bodies, int index) {
  return vec4_bytes * (GLintptr{bodies.count} + index);
}

}  // namespace

BodyReadback::BodyReadback() {
  unsigned id = 0;
  glCreateBuffers(1, &id);
  copies_ = GlObject<delete_buffer>{id};
  glNamedBufferStorage(id, capacity * slot_bytes, nullptr, access | GL_CLIENT_STORAGE_BIT);
  mapped_ = static_cast<const std::byte*>(glMapNamedBufferRange(id, 0, capacity * slot_bytes, access));
}

BodyReadback::~BodyReadback() {
  cancel();
}

void BodyReadback::request(const DrawnBodies& bodies, int index) {
  if (!mapped_ || pending_ == capacity) return;
  const int at = (first_ + pending_) % capacity;
  glCopyNamedBufferSubData(bodies.buffer, copies_.id(), position_of(index), at * slot_bytes, vec4_bytes);
  glCopyNamedBufferSubData(bodies.buffer, copies_.id(), velocity_of(bodies, index), at * slot_bytes + vec4_bytes,
                           vec4_bytes);
  glMemoryBarrier(GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT);
  slots_[static_cast<std::size_t>(at)] = {glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0), index};
  ++pending_;
}

std::optional<BodyState> BodyReadback::poll() {
  std::optional<BodyState> newest;
  while (pending_ > 0) {
    Slot& slot = slots_[static_cast<std::size_t>(first_)];
    const GLenum state = glClientWaitSync(static_cast<GLsync>(slot.fence), 0, 0);
    if (state != GL_ALREADY_SIGNALED && state != GL_CONDITION_SATISFIED) break;
    newest.emplace();
    newest->index = slot.index;
    const std::byte* const copy = mapped_ + first_ * slot_bytes;
    std::memcpy(&newest->position, copy, sizeof newest->position);
    std::memcpy(&newest->velocity, copy + vec4_bytes, sizeof newest->velocity);
    drop_oldest();
  }
  return newest;
}

void BodyReadback::cancel() {
  while (pending_ > 0) drop_oldest();
}

/// GL carries out commands in order: a later copy into the same place follows the dropped one.
void BodyReadback::drop_oldest() {
  glDeleteSync(static_cast<GLsync>(slots_[static_cast<std::size_t>(first_)].fence));
  first_ = (first_ + 1) % capacity;
  --pending_;
}

BodyState BodyReadback::read(const DrawnBodies& bodies, int index) {
  BodyState state{.index = index};
  glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
  glGetNamedBufferSubData(bodies.buffer, position_of(index), vec4_bytes, &state.position);
  glGetNamedBufferSubData(bodies.buffer, velocity_of(bodies, index), vec4_bytes, &state.velocity);
  return state;
}

}  // namespace orrery::render
