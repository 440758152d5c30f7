#!/usr/bin/env bash
# Builds fuzz targets as OSS-Fuzz calls it, with its compiler, flags and folders in the environment: into $OUT go the
# programs, the shared libraries that they need, their seeds and their options. Arguments: the targets, default: all.
# `./run oss-fuzz` tries it.
set -euo pipefail

# The system's C++ libraries are compiled with libstdc++, and its libomp is not on the path of OSS-Fuzz's clang.
export CXXFLAGS=${CXXFLAGS//-stdlib=libc++/}
openmp=$(printf '%s\n' /usr/lib/llvm-*/lib/libomp.so | sort -V | tail -n 1)
mkdir -p "$WORK/openmp"
cp "$(printf '%s\n' "${openmp%/*}"/clang/*/include/omp.h | tail -n 1)" "$WORK/openmp"

# The old kind of run path holds for the libraries of libraries, too.
cmake -S "$SRC/rulerank" -B "$WORK/build" -G Ninja --log-level=NOTICE -DCMAKE_BUILD_TYPE=None -DRULERANK_CUDA=OFF \
  -DRULERANK_PROGRAM=OFF -DRULERANK_TESTS=OFF -DRULERANK_FUZZ=ON "-DRULERANK_FUZZ_ENGINE=$LIB_FUZZING_ENGINE" \
  "-DOpenMP_CXX_FLAGS=-fopenmp=libomp -I$WORK/openmp" -DOpenMP_CXX_LIB_NAMES=omp "-DOpenMP_omp_LIBRARY=$openmp" \
  '-DCMAKE_BUILD_RPATH=$ORIGIN/lib' -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags
ninja -C "$WORK/build" "${@:-fuzz_test}"

mkdir -p "$OUT/lib"
for program in "$WORK"/build/bin/*_fuzz; do
  name=${program##*/}
  # All but the C library's own, which are those of the machine that runs the target.
  ldd "$program" | awk '$3 ~ /^\// && $1 !~ /^(libc|libm|libdl|librt|libpthread)\.so/ {print $3}' | xargs -r cp -t "$OUT/lib"
  cp "$program" "$OUT"
  rm -rf "$WORK/seeds"
  mkdir "$WORK/seeds"
  "$OUT/$name" "--seeds=$WORK/seeds"
  python3 -m zipfile -c "$OUT/${name}_seed_corpus.zip" "$WORK"/seeds/*
  printf '[libfuzzer]\nmax_len = 65536\ntimeout = 10\n' >"$OUT/$name.options"
done
