// What walks of another domain need of a tree, for the files that send it. No include guard.

constexpr int lanes = 32;

/// A domain's outline in shared memory. Its boxes are bundled, so that most tests end after the bundles.
struct Outlined {
  static constexpr int in_bundle = 16, most_bundles = DomainOutline::most / in_bundle;

  int boxes;
  Vec4 low[DomainOutline::most], high[DomainOutline::most];
  Vec4 bundle_low[most_bundles], bundle_high[most_bundles];

  /// All threads of a block call it.
  __device__ void load(const DomainOutline& outline) {
    const int thread = static_cast<int>(threadIdx.x), block = static_cast<int>(blockDim.x);
    if (thread == 0) boxes = outline.boxes;
    __syncthreads();
    for (int i = thread; i < boxes; i += block) {
      low[i] = outline.low[i];
      high[i] = outline.high[i];
    }
    __syncthreads();
    for (int bundle = thread; bundle * in_bundle < boxes; bundle += block) {
      Vec4 least = low[bundle * in_bundle], most = high[bundle * in_bundle];
      for (int i = bundle * in_bundle + 1; i < min((bundle + 1) * in_bundle, boxes); ++i) {
        least = {fminf(least.x, low[i].x), fminf(least.y, low[i].y), fminf(least.z, low[i].z),
                 fmaxf(least.w, low[i].w)};
        most = {fmaxf(most.x, high[i].x), fmaxf(most.y, high[i].y), fmaxf(most.z, high[i].z), 0};
      }
      bundle_low[bundle] = least;
      bundle_high[bundle] = most;
    }
    __syncthreads();
  }

  /// Whether a group in the box may open the cell: the test of the walk. Gives the same bits wherever it is called.
  __device__ static bool opens(const Vec4& low, const Vec4& high, const Vec4& test, float reach) {
    const float dx = fmaxf(fmaxf(low.x - test.x, test.x - high.x), 0),
                dy = fmaxf(fmaxf(low.y - test.y, test.y - high.y), 0),
                dz = fmaxf(fmaxf(low.z - test.z, test.z - high.z), 0);
    const float outside_sq = __fmaf_rn(dx, dx, __fmaf_rn(dy, dy, __fmul_rn(dz, dz)));
    return !(outside_sq >= fmaxf(test.w, __fmul_rn(reach, low.w)));
  }
  __device__ bool opens(const Vec4& test, float reach) const {
    for (int bundle = 0; bundle * in_bundle < boxes; ++bundle) {
      if (!opens(bundle_low[bundle], bundle_high[bundle], test, reach)) continue;
      for (int i = bundle * in_bundle; i < min((bundle + 1) * in_bundle, boxes); ++i) {
        if (opens(low[i], high[i], test, reach)) return true;
      }
    }
    return false;
  }
};

/// Calls use(i) for each i of the ranges [begin, begin + count) that the lanes of a warp have, a lane for each. All
/// lanes call it, those without an i with -1.
template <class Use>
__device__ void for_each_of_warp(int begin, int count, const Use& use) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const int end = cuda::sum_up_to(count, lane), total = __shfl_sync(all_lanes, end, lanes - 1);
  for (int done = 0; done < total; done += lanes) {
    const int place = done + lane;
    int owner = 0;  // the first lane whose range does not end before this place
    for (int step = lanes / 2; step > 0; step /= 2) {
      if (__shfl_sync(all_lanes, end, owner + step - 1) <= place) owner += step;
    }
    const int i = __shfl_sync(all_lanes, begin - (end - count), owner) + place;
    use(place < total ? i : -1);
  }
}

/// The node of a cell as it is sent, and its test.
struct SentCell {
  OctreeNode node;
  Vec4 test;

  /// Closed, the cell always counts as a whole.
  __device__ SentCell(const Octree& tree, int cell, bool opened) : node{tree.nodes[cell]}, test{tree.tests[cell]} {
    if (opened) return;
    node = {0, 0, 0, 0};
    test.w = 0;
  }
};

constexpr int send_block = 1024;  // few blocks, since each reads an outline

/// Part number `part` of so many: each is a block. Calls receiver.cell(cell, opened) for each cell that the domain of
/// this outline needs, and receiver.body(body) for each body: all lanes of a warp, those without one with -1.
template <class Receiver>
__device__ void send_needed(const Octree& tree, const DomainOutline& outline, int part, int parts,
                            const Receiver& receiver) {
  // Raw bytes, because Vec4 would be initialized to zero.
  alignas(Outlined) __shared__ unsigned char space[sizeof(Outlined)];
  Outlined& outlined = reinterpret_cast<Outlined&>(space);
  outlined.load(outline);
  const auto opens = [&](int cell) { return outlined.opens(tree.tests[cell], tree.nodes[cell].reach); };
  const auto send = [&](int cell) {
    const bool opened = cell >= 0 && opens(cell);
    const OctreeLinks links = opened ? tree.links[cell] : OctreeLinks{};
    receiver.cell(cell, opened);
    for_each_of_warp(links.begin, links.children == 0 ? links.end - links.begin : 0,
                     [&](int body) { receiver.body(body); });
  };
  const auto thread = static_cast<int>(threadIdx.x);
  const int lane = thread % lanes, end = tree.state->row_begin[tree.state->rows];
  for (int first = tree.first_cell + (part * send_block + thread) / lanes * lanes; first < end;
       first += parts * send_block) {
    const int cell = first + lane;
    if (first == tree.first_cell) for_each_of_warp(cell, lane == 0 ? 1 : 0, send);
    const OctreeLinks links = cell < end ? tree.links[cell] : OctreeLinks{};
    for_each_of_warp(links.first_child, links.children > 0 && opens(cell) ? links.children : 0, send);
  }
}

/// Blocks for so many receivers, equally many for each.
inline int send_blocks(const cuda::Device& device, const Octree& tree, int receivers) {
  const int resident = std::max(device.multiprocessors() / receivers, 1),
            useful = cuda::ceil_div(tree.end_cell - tree.first_cell, send_block);
  return std::min(resident, useful) * receivers;
}
