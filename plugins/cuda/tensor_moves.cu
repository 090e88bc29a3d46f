/* Sums over some columns, which go from one sum and to another. */
#include "warpgroup.cuh"

namespace {

/* Whether sums end with this group of columns. */
__device__ bool ends(const int32_t *from, const int32_t *to, int64_t group, int64_t last) {
    return group + 1 == last || group % FLUSH == FLUSH - 1 || from[group] != from[group + 1] ||
           to[group] != to[group + 1];
}

/* A sum of four lanes goes from one and to another. */
__device__ void move(const targets &out, int32_t from, int32_t to, int64_t row, double sum) {
    if (threadIdx.x % 4 == 0 && row < out.count) {
        if (from >= 0) {
            out.y[from * out.stride + row] -= sum;
        }
        if (to >= 0) {
            out.y[to * out.stride + row] += sum;
        }
    }
}

/* Rows of a warp against groups first..last - 1 of 32 columns each, which go from one sum and to another. */
template <class P, int CHUNKS>
__global__ void __launch_bounds__(WARPS *LANES)
    moves_kernel(side<P> row_side, side<P> col_side, const int32_t *ids, int zero, const int32_t *from,
                 const int32_t *to, int64_t first, int64_t last, targets out) {
    __shared__ double table[P::TABLE ? TABLE_SIZE : 1];
    fill_table<P>(table);
    constexpr int NT = P::together(CHUNKS);
    int lane = threadIdx.x % LANES;
    int64_t tile = blockIdx.x * WARPS + threadIdx.x / LANES, row0 = out.first + tile * TILE;
    if (tile * TILE >= out.count) {
        return;
    }
    rows_of<P, CHUNKS> rows;
    row_sums<P> sums;
    take_rows(rows, row_side, tile);
    sums.clear();
    for (int64_t group = first; group < last; group++) {
        int32_t id = ids[group * GROUP + lane];
        bool meets = __ballot_sync(0xffffffffu, zero && id >= row0 && id < row0 + TILE) != 0;
#pragma unroll
        for (int part = 0; part < 4; part += NT) {
            typename P::real v[NT][MTILES][4];
            powers<P, CHUNKS, NT>(v, rows, row_side, tile, col_side, group * 4 + part, table);
#pragma unroll
            for (int nt = 0; nt < NT; nt++) {
                typename P::real x, y;
                weights_of<P>(col_side, group * 4 + part + nt, x, y);
                if (meets) {
                    leave_out<P>(v[nt], ids + (group * 4 + part + nt) * 8, row0);
                }
#pragma unroll
                for (int m = 0; m < MTILES; m++) {
                    sums.add(m, x, y, v[nt][m]);
                }
            }
        }
        if (group % 8 == 7) {
            sums.carry();
        }
        if (!ends(from, to, group, last)) {
            continue;
        }
        sums.carry();
#pragma unroll
        for (int m = 0; m < MTILES; m++) {
#pragma unroll
            for (int h = 0; h < 2; h++) {
                double total = sums.total(m, h, rows.weight[m][h]);
                move(out, from[group], to[group], tile * TILE + 16 * m + 8 * h + lane / 4, total);
            }
        }
        sums.clear();
    }
}

/* The same by crews: tiles first..last - 1 of columns, two groups each. */
constexpr __host__ __device__ int move_tiles(int chunks) {
    return chunks == 1 ? 2 : 1;
}

template <int CHUNKS>
__global__ void __launch_bounds__(CREW *BLOCK_TILES / move_tiles(CHUNKS), CHUNKS == 1 ? 2 : 1)
    crew_moves_kernel(side<crew_path> row_side, side<crew_path> col_side, const int32_t *ids, int zero,
                      const int32_t *from, const int32_t *to, int64_t first, int64_t last, targets out) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    constexpr int TILES = move_tiles(CHUNKS);
    extern __shared__ __align__(128) char stages[];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES % 4;
    int64_t tile = blockIdx.x * BLOCK_TILES + threadIdx.x / CREW * TILES, row0 = out.first + tile * TILE;
    column_pipe<CHUNKS, 0> pipe = {col_side, nullptr, first, (int)(last - first), stages, full, empty};
    crew_rows<CHUNKS, TILES> rows;
    row_sums<rough_path, TILES> sums;
    pipe.begin();
    rows.take(row_side, tile, tiles_of(out.count));
    sums.clear();
    for (int i = 0; i < pipe.count; i++) {
        const char *stage = pipe.take(i);
        const int32_t *here = ids + (first + i) * TILE;
        bool over[2] = {ends(from, to, 2 * (first + i), 2 * last), ends(from, to, 2 * (first + i) + 1, 2 * last)};
        /* The groups of this tile; sums that do not end with them are as those of one. */
        auto add = [&](auto plain) {
#pragma unroll
            for (int m = 0; m < TILES; m++) {
                float v[8][4];
                crew_powers<CHUNKS>(v, rows.part[m], stage);
                if (!decltype(plain)::value && zero) {
                    leave_crew_out(v, here, row0 + m * TILE);
                }
#pragma unroll
                for (int nt = 0; nt < 8; nt++) {
                    float2 weight = stage_weights<CHUNKS>(stage, nt);
                    sums.add(m, weight.x, weight.y, v[nt]);
                    if (decltype(plain)::value || nt % 4 < 3 || !over[nt / 4]) {
                        continue;
                    }
                    int64_t group = 2 * (first + i) + nt / 4;
                    sums.carry(m);
#pragma unroll
                    for (int h = 0; h < 2; h++) {
                        double total = sums.total(m, h, rows.weight[m][h]);
                        move(out, from[group], to[group], (tile + m) * TILE + 16 * warp + 8 * h + lane / 4, total);
                        sums.outer[m][h] = 0;
                    }
                }
            }
        };
        if (over[0] || over[1] || (zero && meets(here, row0, TILES * TILE))) {
            add(std::false_type());
        } else {
            add(std::true_type());
        }
        if (i % 4 == 3) {
            sums.carry();
        }
        pipe.leave(i);
    }
#endif
}

/* Columns with room for whole groups of each pair of sums. */
struct column_groups {
    std::vector<int32_t> ids, from, to;
};

column_groups group_columns(const std::vector<int32_t> &ids, const std::vector<int32_t> &from,
                     const std::vector<int32_t> &to) {
    column_groups out;
    for (size_t m = 0; m < ids.size(); m++) {
        bool fresh = m == 0 || from[m] != from[m - 1] || to[m] != to[m - 1];
        if (fresh) {
            out.ids.resize((out.ids.size() + GROUP - 1) / GROUP * GROUP, -1);
        }
        if (out.ids.size() % GROUP == 0) {
            out.from.push_back(from[m]);
            out.to.push_back(to[m]);
        }
        out.ids.push_back(ids[m]);
    }
    out.ids.resize((out.ids.size() + TILE - 1) / TILE * TILE, -1);
    out.from.resize(out.ids.size() / GROUP, -1);
    out.to.resize(out.ids.size() / GROUP, -1);
    return out;
}

/* What a pass needs: rows, and columns in groups. */
template <class P> struct movement {
    buffer<int32_t> ids, from, to;
    packed<P> left, right;
    int64_t rows, groups;
    int make(clv_cuda_call *call, clv_cuda_operator *a, const column_groups &host, const targets &out) {
        int64_t columns = (int64_t)host.ids.size();
        buffer<int32_t> row_ids;
        groups = columns / GROUP;
        rows = tiles_of(out.count) * TILE;
        TRY(ids.send(call, a, host.ids.data(), columns));
        TRY(make_places(call, a, out.first, out.count, rows, row_ids));
        TRY(from.send(call, a, host.from.data(), groups));
        TRY(to.send(call, a, host.to.data(), groups));
        TRY(pack<P>(call, a, row_ids.data, rows, left));
        return pack<P>(call, a, ids.data, columns, right);
    }
};

template <class P>
int moves(clv_cuda_call *call, clv_cuda_operator *a, const column_groups &host, const targets &out) {
    movement<P> m;
    TRY(m.make(call, a, host, out));
    side<P> l = side_of(m.left), r = side_of(m.right);
    return in_pieces(call, m.groups, FLUSH, (double)m.rows * GROUP, [&](int64_t first, int64_t last) {
        unsigned blocks = (unsigned)((m.rows / TILE + WARPS - 1) / WARPS);
        by_chunks<P>(l.chunks, [&](auto chunks) {
            moves_kernel<P, chunks><<<blocks, WARPS * LANES>>>(l, r, m.ids.data, a->of.zero_diagonal, m.from.data,
                                                               m.to.data, first, last, out);
        });
        return (int)CLV_CUDA_OK;
    });
}

template <>
int moves<crew_path>(clv_cuda_call *call, clv_cuda_operator *a, const column_groups &host, const targets &out) {
    movement<crew_path> m;
    TRY(m.make(call, a, host, out));
    side<crew_path> l = side_of(m.left), r = side_of(m.right);
    constexpr int64_t unit = FLUSH * GROUP / TILE;
    return in_pieces(call, m.groups * GROUP / TILE, unit, (double)m.rows * TILE, [&](int64_t first, int64_t last) {
        return by_crew_chunks(l.chunks, [&](auto chunks) {
            constexpr int bytes = crew_bytes<chunks, 0>();
            auto kernel = crew_moves_kernel<chunks>;
            unsigned blocks = (unsigned)((m.rows / TILE + BLOCK_TILES - 1) / BLOCK_TILES);
            TRY(allow_bytes(call, kernel, bytes));
            kernel<<<blocks, BLOCK_TILES / move_tiles(chunks) * CREW, bytes>>>(
                l, r, m.ids.data, a->of.zero_diagonal, m.from.data, m.to.data, first, last, out);
            return (int)CLV_CUDA_OK;
        });
    });
}

} // namespace

int tensor_moves(clv_cuda_call *call, clv_cuda_operator *a, const std::vector<int32_t> &ids,
                 const std::vector<int32_t> &from, const std::vector<int32_t> &to, bool rough, const targets &out) {
    column_groups host = group_columns(ids, from, to);
    auto way = !rough || !tensor_suits(a, true) ? moves<exact_path> : crews_suit(a) ? moves<crew_path> : moves<rough_path>;
    return way(call, a, host, out);
}
