# Compiler settings and the two functions by which each folder of src/ and tests/ is built.

find_program(CCACHE ccache)
if(CCACHE)
  # One cache serves every build folder: paths of the source tree are stored relative to it, wherever it lies.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=time_macros ${CCACHE})
endif()
find_program(LLD ld.lld)
if(LLD)
  add_link_options(-fuse-ld=lld)
endif()
# What caches on disk know a build by (base/build_id.h).
add_link_options(LINKER:--build-id=sha1)

# Plain x86-64: the library must start on any such machine; faster kernels are picked at run time.
add_compile_options(-Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -fno-semantic-interposition
                    -fno-math-errno)
set(CMAKE_CXX_FLAGS_RELEASE "-O1")
if(PADDLE_SANITIZE)
  # Left out: vptr, which needs what -fvisibility hides, and null, alignment and object-size, which cost a third of the
  # compile time for what the address sanitizer sees when it happens.
  add_compile_options(-fsanitize=${PADDLE_SANITIZE} -fno-sanitize=vptr,null,alignment,object-size
                      -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${PADDLE_SANITIZE})
endif()
# Vector kernels are large: under the sanitizers only their memory is watched (their integers wrap by design).
set(PADDLE_KERNEL_SANITIZE "")
if(PADDLE_SANITIZE)
  set(PADDLE_KERNEL_SANITIZE -fno-sanitize=undefined)
endif()

set(PADDLE_GENERATED ${CMAKE_BINARY_DIR}/generated)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
# fmt compiled once, from its headers: Debian's static library is not position-independent.
add_library(paddle_fmt STATIC ${CMAKE_SOURCE_DIR}/cmake/paddle_fmt.cc)
find_package(Python 3.9 REQUIRED COMPONENTS Interpreter)

# paddle_component(NAME [OPTIMIZE] [DEPENDS target...] [EXCLUDE regex]): every .cc under src/NAME as one object library
# pd_NAME. OPTIMIZE compiles with -O3: kernels and executor; everything else, and all of it under sanitizers, is -O1, which
# compiles faster.
function(paddle_component name)
  cmake_parse_arguments(A "OPTIMIZE" "EXCLUDE" "DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cc)
  if(A_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX ${A_EXCLUDE})
  endif()
  if(NOT sources AND NOT A_UNPARSED_ARGUMENTS)
    return()
  endif()
  string(REPLACE "/" "_" target pd_${name})
  add_library(${target} OBJECT ${sources} ${A_UNPARSED_ARGUMENTS})
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/src ${PADDLE_GENERATED})
  target_link_libraries(${target} PUBLIC paddle_fmt Threads::Threads ${A_DEPENDS})
  if(TARGET pd_generate)
    add_dependencies(${target} pd_generate)
  endif()
  if(A_OPTIMIZE AND NOT PADDLE_SANITIZE)
    target_compile_options(${target} PRIVATE -O3)
  endif()
endfunction()

# paddle_test(NAME SOURCES... LINK targets...): a GoogleTest program named NAME, also a ctest. `paddle_tests` builds all of them.
add_custom_target(paddle_tests)
function(paddle_test name)
  cmake_parse_arguments(A "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src ${PADDLE_GENERATED})
  target_link_libraries(${name} PRIVATE ${A_LINK} GTest::gtest GTest::gmock GTest::gtest_main)
  if(TARGET pd_generate)
    add_dependencies(${name} pd_generate)
  endif()
  add_dependencies(paddle_tests ${name})
  add_test(NAME ${name} COMMAND ${name})
endfunction()
