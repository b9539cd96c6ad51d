#include "render/passes/centre_finder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "render/gl/gl.h"

namespace orrery::render {
namespace {

constexpr int most_groups = 1024;      // maximum number of groups in a dispatch of sums
constexpr std::size_t sum_bytes = 32;  // size of `Sums` in centre.glsl
constexpr std::size_t cells = 64 * 64 * 64;
constexpr int scene_sums = 6;                      // number of sums after which a few distant bodies change nothing
constexpr int search_balls = 10, track_balls = 5;  // number of balls, each smaller than the one before
constexpr float everywhere = 1e30f;                // farther than any usable body

/// The first members of `Search` in centre.glsl.
struct Start {
  glm::vec4 ball;
  std::uint32_t stopped = 0, begins = 0, best_mass = 0, best_block = std::numeric_limits<std::uint32_t>::max();
};
/// All members of `Search` in centre.glsl.
struct Search {
  Start start;
  glm::vec4 found{0.0f};
  std::uint32_t switches = 0;
  float reach = 0;
  std::uint32_t counted = 0;
  float mass = 0;
  glm::vec4 scene{0.0f};
};
constexpr BufferReadback::Part result{2, 2};  // `found` and the next vec4

/// Calls visit(first, count) for each part of the bodies that fits into a shader buffer.
template <class Visit>
void for_each_dispatch(int bodies, Visit visit) {
  for (int first = 0; first < bodies; first += most_bodies_per_dispatch) {
    visit(first, std::min(bodies - first, most_bodies_per_dispatch));
  }
}

void bind_positions(const DrawnBodies& bodies, int first, int count) {
  glBindBufferRange(GL_SHADER_STORAGE_BUFFER, 0, bodies.buffer, GLintptr{16} * first, GLsizeiptr{16} * count);
}

}  // namespace

CentreFinder::CentreFinder()
    : sum_{ComputeShader{"centre.glsl#sum"}},
      step_{ComputeShader{"centre.glsl#step"}},
      cells_of_{ComputeShader{"centre.glsl#cells"}},
      find_{ComputeShader{"centre.glsl#find"}},
      choose_{ComputeShader{"centre.glsl#choose"}},
      search_{sizeof(Search)},
      cells_{cells * sizeof(std::uint32_t)} {
  restart();
}

void CentreFinder::restart() {
  readback_.cancel();
  const std::array all{Search{.start = {.ball = glm::vec4{0.0f}}}};
  glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
  search_.upload(std::as_bytes(std::span{all}));
  last_ = {};
  switches_ = 0;
  until_search_ = 0;
}

/// Begins sums of positions relative to the last centre, where they are most precise.
void CentreFinder::begin(const DrawnBodies& bodies) {
  const std::array start{Start{.ball = glm::vec4{last_, everywhere}}};
  glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
  search_.upload(std::as_bytes(std::span{start}));
  const std::size_t dispatches =
      (static_cast<std::size_t>(bodies.count) + most_bodies_per_dispatch - 1) / most_bodies_per_dispatch;
  const std::size_t bytes = std::max(dispatches, std::size_t{1}) * most_groups * sum_bytes;
  if (sums_.size_bytes() < bytes) sums_ = Buffer{bytes};
  bind_storage(2, search_);
  bind_storage(3, cells_);
  bind_storage(4, sums_);
}

void CentreFinder::sum(const DrawnBodies& bodies, Sum taken, const Buffer* parts, int part) {
  int groups = 0;
  sum_.set("part", part);
  for_each_dispatch(bodies.count, [&](int first, int count) {
    bind_positions(bodies, first, count);
    if (parts) {
      glBindBufferRange(GL_SHADER_STORAGE_BUFFER, 1, parts->id(), first, (GLsizeiptr{count} + 3) / 4 * 4);
    }
    sum_.set("count", count);
    sum_.set("first_group", groups);
    const int threads = sum_.group().x, here = std::min((count + threads - 1) / threads, most_groups);
    dispatch(sum_, here);
    groups += here;
  });
  step_.set("taken", static_cast<int>(taken));
  step_.set("groups", groups);
  dispatch(step_, 1);
}

void CentreFinder::fill_cells(const DrawnBodies& bodies) {
  glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
  const std::uint32_t zero = 0;
  glClearNamedBufferData(cells_.id(), GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, &zero);
  for_each_dispatch(bodies.count, [&](int first, int count) {
    bind_positions(bodies, first, count);
    cells_of_.set("count", count);
    dispatch_over(cells_of_, static_cast<std::size_t>(count));
  });
}

void CentreFinder::search(const DrawnBodies& bodies) {
  for (int i = 0; i < scene_sums; ++i) sum(bodies, Sum::scene);
  fill_cells(bodies);
  for (const int stage : {0, 1}) {
    find_.set("stage", stage);
    dispatch_over(find_, cells);
  }
}

void CentreFinder::request(const DrawnBodies& bodies, double time) {
  begin(bodies);
  sum(bodies, Sum::mass);
  read_back(time);
}

void CentreFinder::request_part(const DrawnBodies& bodies, const Buffer& parts, int part, double time) {
  begin(bodies);
  sum(bodies, Sum::mass, &parts, part);
  read_back(time);
}

void CentreFinder::request_cluster(const DrawnBodies& bodies, double time) {
  const bool searches = until_search_ == 0;
  until_search_ = searches ? search_interval - 1 : until_search_ - 1;
  begin(bodies);
  if (searches) search(bodies);
  choose_.set("searched", searches ? 1 : 0);
  dispatch(choose_, 1);
  for (int ball = 0; ball < (searches ? search_balls : track_balls); ++ball) sum(bodies, Sum::cluster);
  read_back(time);
}

void CentreFinder::read_back(double time) {
  time_ = time;
  readback_.request(search_.id(), {&result, 1});
}

std::optional<FoundCentre> CentreFinder::poll(bool wait) {
  const auto read = readback_.poll(wait);
  if (!read) return std::nullopt;
  const glm::vec4 found = read->front();
  const std::uint32_t switches = std::bit_cast<std::uint32_t>(read->back().x);
  FoundCentre centre{.time = time_, .another = switches != switches_};
  switches_ = switches;
  const bool finite = std::isfinite(found.x) && std::isfinite(found.y) && std::isfinite(found.z);
  if (found.w > 0 && finite) centre.centre = last_ = glm::vec3{found};
  if (!centre.centre) until_search_ = 0;
  return centre;
}

}  // namespace orrery::render
