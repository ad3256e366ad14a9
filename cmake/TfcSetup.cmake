# Compiler settings, dependencies and the helper functions that the folders' CMakeLists use.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# The compiler's own time goes into libMLIR and libLLVM: -O1 builds in two thirds of the time of -O3.
set(CMAKE_CXX_FLAGS_RELEASE "-O1 -DNDEBUG")

find_program(TFC_CCACHE ccache)
if(TFC_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${TFC_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${TFC_CCACHE})
endif()

find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_program(TFC_FLATC flatc REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)

set(TFC_WARNINGS -Wall -Wextra -Wno-unused-parameter -Werror=return-type)

# Settings of everything that uses MLIR: include paths, definitions, shared libraries.
add_library(tfc-mlir INTERFACE)
target_include_directories(tfc-mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_include_directories(tfc-mlir INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
target_compile_options(tfc-mlir INTERFACE ${TFC_WARNINGS} -fno-exceptions)
target_link_libraries(tfc-mlir INTERFACE MLIR LLVM)

# Sanitizers, for everything that runs in tfc itself; compiled models link the runtime as it always is.
set(TFC_SANITIZE "" CACHE STRING "Sanitizers to build with, as in address,undefined")
set(TFC_SANITIZER_FLAGS -fno-sanitize=vptr,function -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
if(TFC_SANITIZE)
  target_compile_options(tfc-mlir INTERFACE -fsanitize=${TFC_SANITIZE} ${TFC_SANITIZER_FLAGS})
  target_link_options(tfc-mlir INTERFACE -fsanitize=${TFC_SANITIZE})
endif()

# tfc_add_pch(NAME HEADER): a precompiled header; -fno-pch-timestamp keeps it cacheable.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/pch.cpp CONTENT "")
function(tfc_add_pch name header)
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/pch.cpp)
  target_link_libraries(${name} PRIVATE tfc-mlir)
  target_precompile_headers(${name} PRIVATE ${header})
  target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
endfunction()

# tfc_add_messages(NAME PROTO): a library of the C++ code that protobuf's compiler writes for messages; their header is
# beside the folder's other generated files.
function(tfc_add_messages name proto)
  get_filename_component(stem ${proto} NAME_WE)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${stem}.pb.cc ${CMAKE_CURRENT_BINARY_DIR}/${stem}.pb.h)
  set(proto ${CMAKE_CURRENT_SOURCE_DIR}/${proto})
  add_custom_command(
    OUTPUT ${generated}
    COMMAND ${Protobuf_PROTOC_EXECUTABLE} --cpp_out=${CMAKE_CURRENT_BINARY_DIR}
            --proto_path=${CMAKE_CURRENT_SOURCE_DIR} ${proto}
    DEPENDS ${proto})
  add_library(${name} STATIC ${generated})
  target_include_directories(${name} SYSTEM PUBLIC ${Protobuf_INCLUDE_DIRS})
  target_include_directories(${name} PUBLIC ${PROJECT_BINARY_DIR})
  target_link_libraries(${name} PUBLIC ${Protobuf_LITE_LIBRARIES})
endfunction()

# The headers that most files of a folder include are precompiled once for it: `mlir` for all that uses MLIR, `dfg` with that
# dialect too, and others in the folders that need them.
tfc_add_pch(tfc-mlir-pch ${PROJECT_SOURCE_DIR}/cmake/Precompiled.h)

# tfc_add_library(NAME SOURCES... [PCH mlir] LINK LIBRARIES... DEPENDS TARGETS...): a static library that uses MLIR
# and the precompiled header of this name.
function(tfc_add_library name)
  cmake_parse_arguments(ARG "" "PCH" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC tfc-mlir ${ARG_LINK})
  if(NOT ARG_PCH)
    set(ARG_PCH mlir)
  endif()
  target_precompile_headers(${name} REUSE_FROM tfc-${ARG_PCH}-pch)
  target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# tfc_add_tool(NAME SOURCES... [PCH mlir] LINK LIBRARIES...): a program in build/bin that uses MLIR and the
# precompiled header of this name; `PCH own` is that of `dfg`, compiled with the program's own options.
function(tfc_add_tool name)
  cmake_parse_arguments(ARG "" "PCH" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE tfc-mlir ${ARG_LINK})
  if(NOT ARG_PCH)
    set(ARG_PCH mlir)
  endif()
  if("${ARG_PCH}" STREQUAL "own")
    target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/dialects/dfg/Precompiled.h)
  else()
    target_precompile_headers(${name} REUSE_FROM tfc-${ARG_PCH}-pch)
  endif()
  # The precompiled header is -fPIC, where CMake compiles programs with -fPIE.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp" -fPIC)
  target_link_options(${name} PRIVATE -fuse-ld=lld)
endfunction()

# tfc_tablegen(OUTPUT.inc SOURCE.td ARGS...): runs mlir-tblgen into the build folder that mirrors the source.
function(tfc_tablegen output source)
  set(LLVM_TARGET_DEFINITIONS ${source})
  mlir_tablegen(${output} ${ARGN} -I${PROJECT_SOURCE_DIR} "-I${MLIR_INCLUDE_DIRS}")
  set(TABLEGEN_OUTPUT ${TABLEGEN_OUTPUT} PARENT_SCOPE)
endfunction()
