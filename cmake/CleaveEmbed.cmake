# Bundled data as C: data/NAME.csv or .jsonl becomes "embedded/NAME.h" in the build folder with
#     static const char embedded_NAME[];   the bytes and a NUL
# so that `cleave demo` needs no file at run time.
function(cleave_embed_data target)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/data/*.csv ${PROJECT_SOURCE_DIR}/data/*.jsonl)
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(name ${file} NAME_WE)
    string(MAKE_C_IDENTIFIER ${name} identifier)
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/embedded/${name}.h @ONLY
      CONTENT "/* From data/, made by CMake. */\nstatic const char embedded_${identifier}[] = {\n${bytes}0};\n")
  endforeach()
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/generated)
endfunction()

# The style and the script of a page: src/report/page.css and page.js become the arrays that page.h declares.
function(cleave_embed_page target)
  set(text "/* src/report/page.css and page.js, made by CMake. */\n#include \"report/page.h\"\n")
  foreach(part IN ITEMS "css style" "js script")
    separate_arguments(part)
    list(GET part 0 ending)
    list(GET part 1 name)
    set(file ${PROJECT_SOURCE_DIR}/src/report/page.${ending})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND text "const char clv_page_${name}[] = {\n${bytes}0};\n")
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/page_parts.c @ONLY CONTENT "${text}")
  target_sources(${target} PRIVATE ${PROJECT_BINARY_DIR}/generated/page_parts.c)
endfunction()
