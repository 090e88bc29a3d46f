/* The rough arithmetic of tensor.cuh as Hopper does it: four warps, a crew, multiply together by wgmma, at twice the
 * rate of mma.sync, 64 rows (16 a warp, in registers) against 64 columns, which lie in shared memory.
 *
 * A block has 256 rows, of one to four crews, and passes over columns 64 at a time; these come by bulk copies, some
 * stages ahead, so that no crew waits for another. What a crew holds after a product lies as after mma.sync.
 *
 * Kernels have a body only where the compiler knows these instructions: machine code for compute capability 9.0,
 * architecture 90a. CLV_CUDA_CREWS is defined if that is built. */
#ifndef CLV_CUDA_WARPGROUP_CUH
#define CLV_CUDA_WARPGROUP_CUH

#include "tensor.cuh"

namespace {

constexpr int CREW = 4 * LANES, STAGES = 4, BLOCK_TILES = 4, MOST_CREW_CHUNKS = 4;

/* Whether crews serve: `chunks` of 16 features, whose rows fit the registers. */
inline bool crews_suit(const clv_cuda_operator *a) {
#ifdef CLV_CUDA_CREWS
    return a->major == 9 && a->of.features <= MOST_CREW_CHUNKS * FEATURES;
#else
    (void)a;
    return false;
#endif
}

/* f is called with the number of chunks as a constant. */
template <class F> int by_crew_chunks(int chunks, F f) {
    return chunks == 1   ? f(std::integral_constant<int, 1>())
           : chunks == 2 ? f(std::integral_constant<int, 2>())
           : chunks == 3 ? f(std::integral_constant<int, 3>())
                         : f(std::integral_constant<int, 4>());
}

/* Packed as wgmma reads memory: of 8 points x 16 features hi of the first eight features, 16 bytes a point, hi of the
 * others, and lo likewise. */
struct crew_path : rough_path {
    static __device__ void store(pack *out, int lane, double (*feature)(const void *, int), const void *of) {
        int part = lane % 4;
        __half digits[8];
        for (int e = 0; e < 8; e++) {
            double x = feature(of, part % 2 * 8 + e);
            __half hi = __double2half(x);
            digits[e] = part < 2 ? hi : __double2half(x - (double)__half2float(hi));
        }
        memcpy(&out[part * 8 + lane / 4], digits, sizeof digits);
    }
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/* --- columns, some stages ahead --- */

__device__ unsigned shared_address(const void *at) {
    return (unsigned)__cvta_generic_to_shared(at);
}

__device__ void await(const uint64_t *barrier, int parity) {
    asm volatile("{\n"
                 ".reg .pred passed;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 passed, [%0], %1;\n"
                 "@!passed bra again;\n"
                 "}" ::"r"(shared_address(barrier)),
                 "r"(parity)
                 : "memory");
}

__device__ void fetch(void *to, const void *from, unsigned bytes, const uint64_t *barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}

/* Tiles first.. of columns: their points and weights, and EXTRA bytes of each from `extra`. */
template <int CHUNKS, int EXTRA> struct column_pipe {
    static constexpr int POINTS = CHUNKS * TILE * FEATURES * 4, WEIGHTS = TILE * (int)sizeof(float);
    static constexpr int STAGE = POINTS + WEIGHTS + EXTRA;
    side<crew_path> columns;
    const char *extra;
    int64_t first;
    int count;
    char *stages;
    uint64_t *full, *empty;

    /* By all threads of the block. */
    __device__ void begin() {
        if (threadIdx.x == 0) {
            for (int i = 0; i < STAGES; i++) {
                asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(full + i)) : "memory");
                asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(empty + i)), "r"(blockDim.x)
                             : "memory");
            }
            asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
            for (int i = 0; i < STAGES - 2 && i < count; i++) {
                send(i);
            }
        }
        __syncthreads();
    }
    __device__ void send(int i) {
        char *stage = stages + i % STAGES * STAGE;
        const uint64_t *barrier = full + i % STAGES;
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(STAGE)
                     : "memory");
        fetch(stage, columns.points + (first + i) * (POINTS / (int)sizeof(uint4)), POINTS, barrier);
        fetch(stage + POINTS, columns.weight + (first + i) * TILE, WEIGHTS, barrier);
        if (EXTRA) {
            fetch(stage + POINTS + WEIGHTS, extra + (first + i) * EXTRA, EXTRA, barrier);
        }
    }
    /* Stage i is here; one of the warps, each in its turn, sends for a later one, in the place of one that all left. */
    __device__ const char *take(int i) {
        int next = i + STAGES - 2;
        if (threadIdx.x == i % (blockDim.x / LANES) * LANES && next < count) {
            if (next >= STAGES) {
                await(empty + next % STAGES, (next / STAGES - 1) % 2);
            }
            send(next);
        }
        __syncwarp();
        await(full + i % STAGES, i / STAGES % 2);
        return stages + i % STAGES * STAGE;
    }
    __device__ void leave(int i) {
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(empty + i % STAGES)) : "memory");
    }
};

/* Weights of columns 2t, 2t + 1 of an eight. */
template <int CHUNKS> __device__ float2 stage_weights(const char *stage, int nt) {
    return ((const float2 *)(stage + CHUNKS * TILE * FEATURES * 4))[nt * 4 + threadIdx.x % 4];
}

/* --- products --- */

/* Rows of a crew: TILES x 64, of which a warp has 16 of each. */
template <int CHUNKS, int TILES> struct crew_rows {
    rough_path::left part[TILES][CHUNKS];
    float weight[TILES][2];
    /* From tile `first` on, of `tiles`; those beyond count nothing. */
    __device__ void take(const side<crew_path> &s, int64_t first, int64_t tiles) {
        int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES % 4;
#pragma unroll
        for (int m = 0; m < TILES; m++) {
            bool there = first + m < tiles;
            int64_t eight = (there ? first + m : 0) * 8 + 2 * warp;
#pragma unroll
            for (int h = 0; h < 2; h++) {
                weight[m][h] = there ? s.weight[(eight + h) * 8 + lane / 4] : 0;
#pragma unroll
                for (int chunk = 0; chunk < CHUNKS; chunk++) {
                    const unsigned *word = (const unsigned *)(s.points + ((eight + h) * CHUNKS + chunk) * LANES) + lane;
                    part[m][chunk].hi[h] = word[0];
                    part[m][chunk].hi[2 + h] = word[LANES];
                    part[m][chunk].lo[h] = word[2 * LANES];
                    part[m][chunk].lo[2 + h] = word[3 * LANES];
                }
            }
        }
    }
};

#define CLV_V4(i) "+f"(v[i][0]), "+f"(v[i][1]), "+f"(v[i][2]), "+f"(v[i][3])
#define CLV_V16 CLV_V4(0), CLV_V4(1), CLV_V4(2), CLV_V4(3)
#define CLV_V32 CLV_V16, CLV_V4(4), CLV_V4(5), CLV_V4(6), CLV_V4(7)
/* One instruction; its sums are the first operands, then come a, b and whether to add. */
#define CLV_MULTIPLY(n, numbers, left, right, flag, outputs)                                                           \
    asm volatile("{\n"                                                                                                 \
                 ".reg .pred add;\n"                                                                                   \
                 "setp.ne.b32 add, " flag ", 0;\n"                                                                     \
                 "wgmma.mma_async.sync.aligned.m64n" n "k16.f32.f16.f16 {" numbers "}, {" left "}, " right             \
                 ", add, 1, 1, 0;\n"                                                                                   \
                 "}"                                                                                                   \
                 : outputs                                                                                             \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add))
#define CLV_N8 "%0,%1,%2,%3"
#define CLV_N16 CLV_N8 ",%4,%5,%6,%7"
#define CLV_N24 CLV_N16 ",%8,%9,%10,%11"
#define CLV_N32 CLV_N24 ",%12,%13,%14,%15"
#define CLV_N64 CLV_N32 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define CLV_OUT(...) __VA_ARGS__

/* v (+)= a b: 64 rows by 16, which a warp has in registers, and 16 by 8 EIGHTS columns in shared memory. */
template <int EIGHTS> __device__ void crew_multiply(float v[EIGHTS][4], const unsigned a[4], uint64_t b, int add) {
    static_assert(EIGHTS <= 4 || EIGHTS == 8);
    if constexpr (EIGHTS == 1) {
        CLV_MULTIPLY("8", CLV_N8, "%4,%5,%6,%7", "%8", "%9", CLV_OUT(CLV_V4(0)));
    } else if constexpr (EIGHTS == 2) {
        CLV_MULTIPLY("16", CLV_N16, "%8,%9,%10,%11", "%12", "%13", CLV_OUT(CLV_V4(0), CLV_V4(1)));
    } else if constexpr (EIGHTS == 3) {
        CLV_MULTIPLY("24", CLV_N24, "%12,%13,%14,%15", "%16", "%17", CLV_OUT(CLV_V4(0), CLV_V4(1), CLV_V4(2)));
    } else if constexpr (EIGHTS == 4) {
        CLV_MULTIPLY("32", CLV_N32, "%16,%17,%18,%19", "%20", "%21", CLV_OUT(CLV_V16));
    } else {
        CLV_MULTIPLY("64", CLV_N64, "%32,%33,%34,%35", "%36", "%37", CLV_OUT(CLV_V32));
    }
}

/* Where the columns lie: `deep` bytes from eight to eight of what is summed over, `wide` from eight columns to the
 * next; within these, 16 bytes a column. */
__device__ uint64_t columns_at(const char *shared, int deep, int wide) {
    return (uint64_t)((shared_address(shared) & 0x3ffff) >> 4) | (uint64_t)(deep >> 4) << 16 |
           (uint64_t)(wide >> 4) << 32;
}

/* Around products: what was written before is seen by them; they are done. */
__device__ void begin_products() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

template <int EIGHTS> __device__ void end_products(float v[EIGHTS][4]) {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int e = 0; e < EIGHTS; e++) {
        asm volatile("" : CLV_V4(e) : : "memory"); /* not to be read sooner */
    }
}

/* The powers of 64 rows and of the columns of a stage: v[nt] as in the fragments of mma. Small terms first. */
template <int CHUNKS>
__device__ void crew_powers(float v[8][4], const rough_path::left part[CHUNKS], const char *stage) {
    uint64_t b = columns_at(stage, 128, 512 * CHUNKS);
    begin_products();
#pragma unroll
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        crew_multiply<8>(v, part[chunk].hi, b + 32 * chunk + 16, chunk > 0);
        crew_multiply<8>(v, part[chunk].lo, b + 32 * chunk, 1);
    }
#pragma unroll
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        crew_multiply<8>(v, part[chunk].hi, b + 32 * chunk, 1);
    }
    end_products<8>(v);
#pragma unroll
    for (int e = 0; e < 32; e++) {
        v[e / 4][e % 4] = rough_path::power(v[e / 4][e % 4], nullptr);
    }
}

/* An object and itself: `ids` of the columns of a stage, row0 the first of the 64 rows. */
__device__ void leave_crew_out(float v[8][4], const int32_t *ids, int64_t row0) {
    int lane = threadIdx.x % LANES, row = threadIdx.x / LANES % 4 * 16 + lane / 4;
#pragma unroll
    for (int nt = 0; nt < 8; nt++) {
#pragma unroll
        for (int e = 0; e < 2; e++) {
            int64_t column = ids[nt * 8 + 2 * (lane % 4) + e] - row0;
            v[nt][e] = column == row ? 0 : v[nt][e];
            v[nt][2 + e] = column == row + 8 ? 0 : v[nt][2 + e];
        }
    }
}

/* Whether one of the columns of a stage is among rows row0..row0 + rows - 1. */
__device__ bool meets(const int32_t *ids, int64_t row0, int64_t rows) {
    int64_t a = ids[threadIdx.x % LANES] - row0, b = ids[LANES + threadIdx.x % LANES] - row0;
    return __any_sync(0xffffffffu, (a >= 0 && a < rows) || (b >= 0 && b < rows));
}

#endif

/* Shared memory of a kernel, and its launch. */
template <int CHUNKS, int EXTRA> constexpr int crew_bytes() {
    return STAGES * (CHUNKS * TILE * FEATURES * 4 + TILE * 4 + EXTRA);
}

template <class K> int allow_bytes(clv_cuda_call *call, K kernel, int bytes) {
    CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    return CLV_CUDA_OK;
}

} // namespace

#endif
