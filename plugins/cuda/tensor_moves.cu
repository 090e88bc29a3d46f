/* Sums over some columns, which go from one sum and to another. */
#include "tensor.cuh"

namespace {

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
        bool ends = group + 1 == last || group % FLUSH == FLUSH - 1 || from[group] != from[group + 1] ||
                    to[group] != to[group + 1];
        if (!ends) {
            continue;
        }
        sums.carry();
#pragma unroll
        for (int m = 0; m < MTILES; m++) {
#pragma unroll
            for (int h = 0; h < 2; h++) {
                double total = sums.total(m, h, rows.weight[m][h]);
                int64_t row = tile * TILE + 16 * m + 8 * h + lane / 4;
                if (lane % 4 == 0 && row < out.count) {
                    if (from[group] >= 0) {
                        out.y[from[group] * out.stride + row] -= total;
                    }
                    if (to[group] >= 0) {
                        out.y[to[group] * out.stride + row] += total;
                    }
                }
            }
        }
        sums.clear();
    }
}

/* Columns with room for whole groups of each pair of sums. */
struct groups {
    std::vector<int32_t> ids, from, to;
};

groups group_columns(const std::vector<int32_t> &ids, const std::vector<int32_t> &from,
                     const std::vector<int32_t> &to) {
    groups out;
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
    out.ids.resize((out.ids.size() + GROUP - 1) / GROUP * GROUP, -1);
    return out;
}

template <class P>
int moves(clv_cuda_call *call, clv_cuda_operator *a, const groups &host, const targets &out) {
    int64_t columns = (int64_t)host.ids.size(), rows = tiles_of(out.count) * TILE;
    buffer<int32_t> ids, row_ids, from, to;
    packed<P> left, right;
    TRY(ids.send(call, a, host.ids.data(), columns));
    TRY(make_places(call, a, out.first, out.count, rows, row_ids));
    TRY(from.send(call, a, host.from.data(), columns / GROUP));
    TRY(to.send(call, a, host.to.data(), columns / GROUP));
    TRY(pack<P>(call, a, row_ids.data, rows, left));
    TRY(pack<P>(call, a, ids.data, columns, right));
    side<P> l = side_of(left), r = side_of(right);
    return in_pieces(call, columns / GROUP, FLUSH, (double)rows * GROUP, [&](int64_t first, int64_t last) {
        unsigned blocks = (unsigned)((rows / TILE + WARPS - 1) / WARPS);
        by_chunks<P>(l.chunks, [&](auto chunks) {
            moves_kernel<P, chunks><<<blocks, WARPS * LANES>>>(l, r, ids.data, a->of.zero_diagonal, from.data, to.data,
                                                               first, last, out);
        });
        return CLV_CUDA_OK;
    });
}

} // namespace

int tensor_moves(clv_cuda_call *call, clv_cuda_operator *a, const std::vector<int32_t> &ids,
                 const std::vector<int32_t> &from, const std::vector<int32_t> &to, bool rough, const targets &out) {
    groups host = group_columns(ids, from, to);
    return rough && tensor_suits(a, true) ? moves<rough_path>(call, a, host, out)
                                          : moves<exact_path>(call, a, host, out);
}
