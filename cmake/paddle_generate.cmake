# What the records generate. It runs once at configure time, so that the files exist when sources are scanned, and again
# in the build whenever a record or the generator changed; a file is rewritten only if its text changed.
find_package(Python 3.9 REQUIRED COMPONENTS Interpreter)

# what PYTHONPATH held stays: an isolated build (pip wheel) finds its packages through it
set(path ${CMAKE_SOURCE_DIR}/tools)
if(DEFINED ENV{PYTHONPATH})
  string(APPEND path ":$ENV{PYTHONPATH}")
endif()
set(PADDLE_GENERATE ${CMAKE_COMMAND} -E env PYTHONPATH=${path} PYTHONDONTWRITEBYTECODE=1 ${Python_EXECUTABLE} -m opgen
    --root ${CMAKE_SOURCE_DIR} --out ${PADDLE_GENERATED})

execute_process(COMMAND ${PADDLE_GENERATE} RESULT_VARIABLE result)
if(result)
  message(FATAL_ERROR "the generator failed: ${PADDLE_GENERATE}")
endif()

file(GLOB_RECURSE PADDLE_RECORDS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/ops/*.yaml ${CMAKE_SOURCE_DIR}/tools/opgen/*.py)
file(GLOB_RECURSE PADDLE_GENERATED_FILES ${PADDLE_GENERATED}/*)
set(stamp ${CMAKE_BINARY_DIR}/generate.stamp)
add_custom_command(
  OUTPUT ${stamp}
  BYPRODUCTS ${PADDLE_GENERATED_FILES}
  COMMAND ${PADDLE_GENERATE}
  COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
  DEPENDS ${PADDLE_RECORDS}
  COMMENT "opgen: records -> ${PADDLE_GENERATED}"
  VERBATIM)
add_custom_target(pd_generate DEPENDS ${stamp})
