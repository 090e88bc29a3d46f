#!/bin/bash -eu
# The fuzz targets with their seeds into $OUT, as OSS-Fuzz builds them: with the compiler and flags that it sets. The
# libraries that they need go along, as the machines that run them have none.
source=$(cd "$(dirname "$0")/../../.." && pwd)

cmake -S "$source" -B "$WORK/cleave" -D CMAKE_BUILD_TYPE=None -D CMAKE_C_COMPILER="$CC" -D CMAKE_C_FLAGS="$CFLAGS" \
    -D CMAKE_BUILD_RPATH="\$ORIGIN/lib" -D CLEAVE_FUZZ=ON -D CLEAVE_FUZZ_ENGINE="$LIB_FUZZING_ENGINE" -D CLEAVE_TESTS=OFF -D CLEAVE_MPI=OFF
cmake --build "$WORK/cleave" --parallel "$(nproc)" --target fuzz_targets

mkdir -p "$OUT/lib"
while read -r target corpus; do
    cp "$WORK/cleave/tests/$target" "$OUT/"
    ldd "$OUT/$target" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | grep -v -E "^$OUT/|/(libc|libm|libdl|libpthread|librt)\.so" |
        xargs -r cp -u -L -t "$OUT/lib"
    if [ -d "$source/tests/fuzz/corpus/$corpus" ]; then
        python3 -m zipfile -c "$OUT/${target}_seed_corpus.zip" "$source/tests/fuzz/corpus/$corpus"/*
    fi
done <"$WORK/cleave/tests/fuzz_targets.txt"
