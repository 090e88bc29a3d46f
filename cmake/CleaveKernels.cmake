# The vector kernels: src/kernels/set.c is compiled once per instruction set, with its flags. These files alone may fuse
# multiplications and additions; all others are plain -O2 with strict floating point. No vectors out of straight code by
# clang: they round the last entries of a loop otherwise than the rest, and then it matters where a caller splits work.
set(CLEAVE_KERNEL_SETS baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  list(APPEND CLEAVE_KERNEL_SETS avx2 avx512)
  set_source_files_properties(src/kernels/kernels.c PROPERTIES COMPILE_DEFINITIONS CLV_X86_SETS)
endif()
set(CLEAVE_FLAGS_avx2 -march=x86-64-v3)
set(CLEAVE_FLAGS_avx512 -march=x86-64-v4 -mprefer-vector-width=512)

foreach(set IN LISTS CLEAVE_KERNEL_SETS)
  add_library(cleave_kernels_${set} OBJECT src/kernels/set.c)
  set_target_properties(cleave_kernels_${set} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(cleave_kernels_${set} PRIVATE include src)
  target_compile_definitions(cleave_kernels_${set} PRIVATE CLV_SET=${set})
  target_compile_options(cleave_kernels_${set} PRIVATE
    $<$<CONFIG:Release>:-O3> -ffp-contract=fast -fno-math-errno -fno-trapping-math
    $<$<C_COMPILER_ID:Clang,AppleClang>:-fno-slp-vectorize> ${CLEAVE_FLAGS_${set}})
  target_link_libraries(cleave_kernels_${set} PRIVATE cleave_flags cleave_dependencies)
  list(APPEND CLEAVE_KERNEL_OBJECTS $<TARGET_OBJECTS:cleave_kernels_${set}>)
endforeach()
