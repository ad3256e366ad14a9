# tfc_add_model(NAME GRAPH [DEPENDS FILES...] [OPTIONS WORDS...]): compiles GRAPH and makes a library
# NAME to link. Its header is NAME.h, its functions begin with NAME_. DEPENDS names what GRAPH uses or
# loads, OPTIONS goes to `tfc compile`.
function(tfc_add_model name graph)
  cmake_parse_arguments(ARG "" "" "DEPENDS;OPTIONS" ${ARGN})
  get_filename_component(graph "${graph}" ABSOLUTE)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${name}-model")
  set(archive "${folder}/lib${name}.a")
  file(MAKE_DIRECTORY "${folder}")
  add_custom_command(
    OUTPUT "${archive}" "${folder}/${name}.h"
    COMMAND tfc::tfc compile "${graph}" -o "${archive}" --prefix ${name} ${ARG_OPTIONS}
    DEPENDS "${graph}" ${ARG_DEPENDS}
    COMMENT "Compiling model ${name}"
    VERBATIM)
  add_custom_target(${name}-model DEPENDS "${archive}" "${folder}/${name}.h")
  add_library(${name} STATIC IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES
    IMPORTED_LOCATION "${archive}"
    INTERFACE_INCLUDE_DIRECTORIES "${folder}"
    INTERFACE_LINK_LIBRARIES "tfc::runtime;m")
  add_dependencies(${name} ${name}-model)
endfunction()
