/* Sums by label over all pairs, each of which is computed once. */
#include "warpgroup.cuh"

namespace {

struct segment {
    int64_t first, last; /* tiles, all of one label */
    int32_t label;
};

/* sums[COUNT] over the lanes with the same t: each lane ends with an eighth of them, in front, by its bits 4, 3, 2. */
template <int COUNT, class R> __device__ void fold(R sums[COUNT]) {
    int lane = threadIdx.x % LANES;
#pragma unroll
    for (int width = COUNT / 2, bit = 16; bit > 2; width /= 2, bit /= 2) {
        bool upper = lane & bit;
#pragma unroll
        for (int e = 0; e < COUNT / 2; e++) {
            if (e < width) {
                R mine = upper ? sums[e + width] : sums[e], other = upper ? sums[e] : sums[e + width];
                sums[e] = mine + __shfl_xor_sync(0xffffffffu, other, bit);
            }
        }
    }
}

/* Which of 32 columns the sum that is left of eight belongs to. */
__device__ int place_of_sum() {
    int lane = threadIdx.x % LANES, nt = (lane >> 3) & 3; /* bits 4, 3 */
    return nt * 8 + 2 * (lane % 4) + ((lane >> 2) & 1);
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
/* Sums of a warp by column, of 64, to `out`. */
__device__ void fold_crew(float sums[16], float *out) {
    fold<16>(sums);
    ((float2 *)out)[threadIdx.x % LANES] = make_float2(sums[0], sums[1]);
}
#endif

/* Row tile first + blockIdx.x * WARPS + warp against the tiles of a segment that come after it. */
template <class P, int CHUNKS>
__global__ void __launch_bounds__(WARPS *LANES, CHUNKS == 1 && !P::TABLE ? 4 : 1)
    pairs_kernel(side<P> s, int64_t first, int64_t last, const segment *segments, int64_t padded,
                 typename P::real *columns_out, double *rows_out) {
    __shared__ double table[P::TABLE ? TABLE_SIZE : 1];
    fill_table<P>(table);
    constexpr int NT = P::together(CHUNKS);
    int64_t tile = first + blockIdx.x * WARPS + threadIdx.x / LANES;
    segment seg = segments[blockIdx.y];
    int64_t begin = seg.first > tile + 1 ? seg.first : tile + 1;
    if (tile >= last || begin >= seg.last) {
        return;
    }
    rows_of<P, CHUNKS> rows;
    row_sums<P> sums;
    take_rows(rows, s, tile);
    sums.clear();
    typename P::real *slot = columns_out + (tile - first) * padded;
    for (int64_t group = begin * (TILE / GROUP); group < seg.last * (TILE / GROUP); group++) {
        typename P::real column[8];
#pragma unroll
        for (int part = 0; part < 4; part += NT) {
            typename P::real v[NT][MTILES][4];
            powers<P, CHUNKS, NT>(v, rows, s, tile, s, group * 4 + part, table);
#pragma unroll
            for (int nt = 0; nt < NT; nt++) {
                typename P::real x, y, left = 0, right = 0;
                weights_of<P>(s, group * 4 + part + nt, x, y);
#pragma unroll
                for (int m = 0; m < MTILES; m++) {
                    sums.add(m, x, y, v[nt][m]);
                    left = fma(rows.weight[m][1], v[nt][m][2], fma(rows.weight[m][0], v[nt][m][0], left));
                    right = fma(rows.weight[m][1], v[nt][m][3], fma(rows.weight[m][0], v[nt][m][1], right));
                }
                column[2 * (part + nt)] = left;
                column[2 * (part + nt) + 1] = right;
            }
        }
        fold<8>(column);
        int64_t at = group * GROUP + place_of_sum();
        slot[at] = column[0] * s.weight[at];
        if (group % 8 == 7) {
            sums.carry();
        }
    }
    sums.carry();
    double *out = rows_out + blockIdx.y * (last - first) * TILE + (tile - first) * TILE;
    int lane = threadIdx.x % LANES;
#pragma unroll
    for (int m = 0; m < MTILES; m++) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            double total = sums.total(m, h, rows.weight[m][h]);
            if (lane % 4 == 0) {
                out[16 * m + 8 * h + lane / 4] = total;
            }
        }
    }
}

/* How many tiles of rows, all of one label, a slot is the sum of. */
template <class P> constexpr __host__ __device__ int slot_tiles(int) {
    return 1;
}
template <> constexpr __host__ __device__ int slot_tiles<crew_path>(int chunks) {
    return chunks == 1 ? 4 : 2;
}
/* And how many a block of crews has. */
constexpr __host__ __device__ int block_tiles(int chunks) {
    return chunks > 2 ? 2 : BLOCK_TILES;
}

/* The same by crews: blocks of several row tiles, and a slot for those of a crew. */
template <int CHUNKS>
__global__ void __launch_bounds__(CREW *block_tiles(CHUNKS) / slot_tiles<crew_path>(CHUNKS), CHUNKS == 2 ? 2 : 3)
    crew_pairs_kernel(side<crew_path> s, int64_t first, int64_t last, const segment *segments, int64_t padded,
                      float *columns_out, double *rows_out) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    constexpr int TILES = slot_tiles<crew_path>(CHUNKS), CREWS = block_tiles(CHUNKS) / TILES;
    extern __shared__ __align__(128) char stages[];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    __shared__ float parts[CREWS][2][4][TILE]; /* column sums of warps, this time and the last */
    int crew = threadIdx.x / CREW, lane = threadIdx.x % LANES, warp = threadIdx.x / LANES % 4;
    int64_t block = first + blockIdx.x * block_tiles(CHUNKS), tile = block + crew * TILES;
    segment seg = segments[blockIdx.y];
    int64_t begin = seg.first > block + 1 ? seg.first : block + 1;
    if (begin >= seg.last) {
        return;
    }
    column_pipe<CHUNKS, 0> pipe = {s, nullptr, begin, (int)(seg.last - begin), stages, full, empty};
    crew_rows<CHUNKS, TILES> rows;
    row_sums<rough_path, TILES> sums;
    pipe.begin();
    rows.take(s, tile, last);
    sums.clear();
    float *slot = columns_out + (tile - first) / TILES * padded;
    for (int i = 0; i < pipe.count; i++) {
        const char *stage = pipe.take(i);
        float column[16] = {};
        auto add = [&](auto diagonal) { /* pairs that are not above the diagonal count nothing */
#pragma unroll
            for (int m = 0; m < TILES; m++) {
                float v[8][4], none = begin + i <= tile + m ? 0 : 1;
                crew_powers<CHUNKS>(v, rows.part[m], stage);
#pragma unroll
                for (int nt = 0; nt < 8; nt++) {
                    float2 weight = stage_weights<CHUNKS>(stage, nt);
                    float low = rows.weight[m][0], high = rows.weight[m][1];
                    if (decltype(diagonal)::value) {
                        weight.x *= none, weight.y *= none, low *= none, high *= none;
                    }
                    sums.add(m, weight.x, weight.y, v[nt]);
                    column[2 * nt] = fma(high, v[nt][2], fma(low, v[nt][0], column[2 * nt]));
                    column[2 * nt + 1] = fma(high, v[nt][3], fma(low, v[nt][1], column[2 * nt + 1]));
                }
            }
        };
        if (begin + i < tile + TILES) {
            add(std::true_type());
        } else {
            add(std::false_type());
        }
        float(*of)[TILE] = parts[crew][i % 2];
        fold_crew(column, of[warp]);
        asm volatile("bar.sync %0, 128;" ::"r"(1 + crew) : "memory");
        if (warp < 2 && tile < last) {
            int c = threadIdx.x % CREW;
            float weight = ((const float *)(stage + column_pipe<CHUNKS, 0>::POINTS))[c];
            slot[(begin + i) * TILE + c] = ((of[0][c] + of[1][c]) + (of[2][c] + of[3][c])) * weight;
        }
        pipe.leave(i);
        if (i % 4 == 3) {
            sums.carry();
        }
    }
    sums.carry();
    double *out = rows_out + blockIdx.y * (last - first) * TILE + (tile - first) * TILE;
#pragma unroll
    for (int m = 0; m < TILES; m++) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            double total = sums.total(m, h, rows.weight[m][h]);
            if (lane % 4 == 0 && tile + m < last) {
                out[m * TILE + 16 * warp + 8 * h + lane / 4] = total;
            }
        }
    }
#endif
}

/* y of column j += its slots of the row tiles first..last - 1 before it, one after the other. */
template <class R>
__global__ void add_columns_kernel(const R *slots, int each /* tiles of a slot */, const int32_t *labels /* of tiles */,
                                   int64_t first, int64_t last, int64_t padded, double *y) {
    int64_t j = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (j >= padded) {
        return;
    }
    int64_t end = j / TILE < last ? j / TILE : last;
    int32_t label = -1;
    double sum = 0;
    for (int64_t tile = first; tile < end; tile += each) {
        if (labels[tile] != label) {
            if (label >= 0) {
                y[label * padded + j] = sum;
            }
            label = labels[tile];
            sum = y[label * padded + j];
        }
        sum += (double)slots[(tile - first) / each * padded + j];
    }
    if (label >= 0) {
        y[label * padded + j] = sum;
    }
}

/* And of the rows of these tiles, what the segments after them gave. */
__global__ void add_rows_kernel(const double *slots, int together /* row tiles of a block */, const segment *segments,
                                int64_t count, int64_t first, int64_t last, int64_t padded, double *y) {
    int64_t row = blockIdx.x * (int64_t)blockDim.x + threadIdx.x, rows = (last - first) * TILE;
    for (int64_t s = 0; row < rows && s < count; s++) {
        if (segments[s].last > first + row / TILE / together * together + 1) {
            y[segments[s].label * padded + first * TILE + row] += slots[s * rows + row];
        }
    }
}

/* The entries within a tile, by differences; it has one label. */
__global__ void diagonal_kernel(const double *panels, int64_t features, double gamma, int zero, const int32_t *ids,
                                const int32_t *labels, int64_t padded, double *y) {
    int64_t tile = blockIdx.x, row = tile * TILE + threadIdx.x;
    int64_t i = ids[row];
    double sum = 0;
    for (int64_t c = 0; i >= 0 && c < TILE; c++) {
        int64_t j = ids[tile * TILE + c];
        if (j < 0 || (zero && i == j)) {
            continue;
        }
        const double *x = panels + i / TILE * features * TILE + i % TILE;
        const double *z = panels + j / TILE * features * TILE + j % TILE;
        double square = 0;
        for (int64_t f = 0; f < features; f++) {
            double d = x[f * TILE] - z[f * TILE];
            square = fma(d, d, square);
        }
        sum += exp(-gamma * square);
    }
    y[labels[tile] * padded + row] = sum;
}

__global__ void unpack_kernel(const double *from, const int32_t *ids, int64_t padded, int64_t n, int64_t k, double *y) {
    int64_t m = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    for (int64_t c = 0; m < padded && ids[m] >= 0 && c < k; c++) {
        y[c * n + ids[m]] = from[c * padded + m];
    }
}

/* Objects by label, each label padded to `together` tiles or a multiple; those without one come last, as rows that are in nobody's sum:
 * label k. */
struct arrangement {
    std::vector<int32_t> ids, labels; /* of places; of tiles */
    std::vector<segment> segments;
};

constexpr int64_t SEGMENT_TILES = 64;

arrangement arrange(const int32_t *labels, int64_t n, int64_t k, int together) {
    arrangement out;
    std::vector<int64_t> size((size_t)k + 1), next((size_t)k + 1);
    for (int64_t i = 0; i < n; i++) {
        size[(size_t)(labels[i] < 0 ? k : labels[i])]++;
    }
    int64_t at = 0;
    for (int64_t c = 0; c <= k; c++) {
        next[(size_t)c] = at;
        int64_t tiles = (tiles_of(size[(size_t)c]) + together - 1) / together * together, begin = at / TILE;
        for (int64_t t = 0; t < tiles; t += SEGMENT_TILES) {
            int64_t end = t + SEGMENT_TILES < tiles ? t + SEGMENT_TILES : tiles;
            out.segments.push_back({begin + t, begin + end, (int32_t)c});
        }
        out.labels.insert(out.labels.end(), (size_t)tiles, (int32_t)c);
        at += tiles * TILE;
    }
    out.ids.assign((size_t)at, -1);
    for (int64_t i = 0; i < n; i++) {
        out.ids[(size_t)next[(size_t)(labels[i] < 0 ? k : labels[i])]++] = (int32_t)i;
    }
    return out;
}

/* How many row tiles may have their slots at a time. */
int slab_of(clv_cuda_call *call, const clv_cuda_operator *a, int64_t tile_bytes, int64_t *out) {
    int64_t room = (int64_t)((a->limit - a->held) / 2), most = 1024;
    *out = room / tile_bytes / WARPS * WARPS;
    *out = *out < most ? *out : most;
    return *out >= WARPS ? CLV_CUDA_OK
                         : fail(call, CLV_CUDA_NO_MEMORY, "%lld bytes are needed beside %zu, and %zu may be held",
                                (long long)(2 * WARPS * tile_bytes), a->held, a->limit);
}

/* The row tiles first..last - 1 against those after them. */
template <class P>
int add_pairs(clv_cuda_call *call, const side<P> &s, int64_t first, int64_t last, const segment *segments,
              int64_t count, int64_t padded, typename P::real *columns_out, double *rows_out) {
    dim3 grid((unsigned)((last - first + WARPS - 1) / WARPS), (unsigned)count);
    by_chunks<P>(s.chunks, [&](auto chunks) {
        pairs_kernel<P, chunks>
            <<<grid, WARPS * LANES>>>(s, first, last, segments, padded, columns_out, rows_out);
    });
    CUDA(cudaGetLastError());
    return CLV_CUDA_OK;
}

template <>
int add_pairs<crew_path>(clv_cuda_call *call, const side<crew_path> &s, int64_t first, int64_t last,
                         const segment *segments, int64_t count, int64_t padded, float *columns_out,
                         double *rows_out) {
    return by_crew_chunks(s.chunks, [&](auto chunks) {
        constexpr int bytes = crew_bytes<chunks, 0>();
        constexpr int tiles = block_tiles(chunks);
        dim3 grid((unsigned)((last - first + tiles - 1) / tiles), (unsigned)count);
        auto kernel = crew_pairs_kernel<chunks>;
        TRY(allow_bytes(call, kernel, bytes));
        kernel<<<grid, tiles / slot_tiles<crew_path>(chunks) * CREW, bytes>>>(s, first, last, segments, padded,
                                                                                   columns_out, rows_out);
        CUDA(cudaGetLastError());
        return (int)CLV_CUDA_OK;
    });
}

template <class P>
int group_sums(clv_cuda_call *call, clv_cuda_operator *a, const arrangement &host, int64_t k, double *y) {
    using real = typename P::real;
    int64_t padded = (int64_t)host.ids.size(), tiles = padded / TILE, count = (int64_t)host.segments.size(), most;
    constexpr bool crews = std::is_same_v<P, crew_path>;
    buffer<int32_t> ids, tile_labels;
    buffer<segment> segments;
    buffer<double> sums, row_slots;
    buffer<real> column_slots;
    packed<P> points;
    TRY(ids.send(call, a, host.ids.data(), padded));
    TRY(tile_labels.send(call, a, host.labels.data(), tiles));
    TRY(segments.send(call, a, host.segments.data(), count));
    TRY(pack<P>(call, a, ids.data, padded, points));
    TRY(sums.make(call, a, (k + 1) * padded));
    CUDA(cudaMemset(sums.data, 0, (size_t)((k + 1) * padded) * sizeof(double)));
    diagonal_kernel<<<(unsigned)tiles, TILE>>>(a->panels, a->of.features, a->of.gamma, a->of.zero_diagonal, ids.data,
                                               tile_labels.data, padded, sums.data);
    int each = slot_tiles<P>(points.chunks);
    TRY(slab_of(call, a, padded * (int64_t)sizeof(real) + count * TILE * (int64_t)sizeof(double), &most));
    most = most < tiles ? most : (tiles + WARPS - 1) / WARPS * WARPS;
    TRY(column_slots.make(call, a, most / each * padded));
    TRY(row_slots.make(call, a, most * TILE * count));
    side<P> s = side_of(points);
    auto slab = [&](int64_t first, int64_t last) {
        TRY(add_pairs<P>(call, s, first, last, segments.data, count, padded, column_slots.data, row_slots.data));
        add_columns_kernel<real><<<(unsigned)((padded + 255) / 256), 256>>>(
            column_slots.data, each, tile_labels.data, first, last, padded, sums.data);
        add_rows_kernel<<<(unsigned)(((last - first) * TILE + 127) / 128), 128>>>(
            row_slots.data, crews ? block_tiles(s.chunks) : 1, segments.data, count, first, last, padded, sums.data);
        return (int)CLV_CUDA_OK;
    };
    TRY(in_pieces(call, tiles, WARPS, (double)padded * TILE / 2, slab, most));
    unpack_kernel<<<(unsigned)((padded + 255) / 256), 256>>>(sums.data, ids.data, padded, a->of.n, k, y);
    CUDA(cudaGetLastError());
    CUDA(cudaDeviceSynchronize());
    return CLV_CUDA_OK;
}

} // namespace

/* Crews, unless many small labels would be padded to several times their size. */
int tensor_group_sums(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *labels, int64_t k, bool rough,
                      double *y) {
    bool halves = rough && tensor_suits(a, true);
    if (halves && crews_suit(a)) {
        int64_t chunks = (a->of.features + FEATURES - 1) / FEATURES;
        arrangement host = arrange(labels, a->of.n, k, slot_tiles<crew_path>((int)chunks));
        if ((int64_t)host.ids.size() <= a->of.n + a->of.n / 8) {
            return group_sums<crew_path>(call, a, host, k, y);
        }
    }
    arrangement host = arrange(labels, a->of.n, k, 1);
    return halves ? group_sums<rough_path>(call, a, host, k, y) : group_sums<exact_path>(call, a, host, k, y);
}
