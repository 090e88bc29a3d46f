# Warnings, sanitizers and coverage. No -march=native and no -ffast-math: the same program on every machine, with the
# hot kernels compiled for several instruction sets and chosen at run time.
add_library(cleave_flags INTERFACE)
target_compile_definitions(cleave_flags INTERFACE _GNU_SOURCE)
target_compile_options(cleave_flags INTERFACE -Wall -Wextra -Wpedantic)

if(CLEAVE_WERROR)
  target_compile_options(cleave_flags INTERFACE
    -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wundef -Wvla -Wdouble-promotion
    -Wpointer-arith -Wformat=2 -Wimplicit-fallthrough -Wconversion -Wno-sign-conversion)
endif()

# What reads files of anybody is hardened: checks of the stack and of copies into buffers of known size, and tables of
# functions that cannot be overwritten. Not the kernels, which copy nothing; nor under sanitizers, which check more; nor
# debug builds, as copies are checked in optimized code only.
add_library(cleave_hardening INTERFACE)
if(NOT CLEAVE_SANITIZE AND NOT CLEAVE_COVERAGE)
  set(optimized "$<CONFIG:Release,RelWithDebInfo>")
  target_compile_options(cleave_hardening INTERFACE
    "$<${optimized}:-fstack-protector-strong;-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>")
  add_link_options("$<${optimized}:-Wl,-z,relro,-z,now>")
endif()
# Programs are position-independent because we say so, not because the compiler of a distribution does it.
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

# Sanitizers and counters go on everything, so that no object of the program is left out.
if(CLEAVE_SANITIZE)
  add_compile_options(-fsanitize=${CLEAVE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CLEAVE_SANITIZE})
endif()
if(CLEAVE_COVERAGE)
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()
