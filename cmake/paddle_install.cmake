# Two components. `python`: the package directory, complete with the libraries it needs beside it. `cpp`: headers, library and package
# config for find_package(paddle).

# Third-party libraries that run with us: taken by their soname, so that the package needs nothing installed.
get_target_property(dnnl_library DNNL::dnnl IMPORTED_LOCATION_RELEASE)
if(NOT dnnl_library)
  get_target_property(dnnl_library DNNL::dnnl IMPORTED_LOCATION)
endif()
get_filename_component(dnnl_real ${dnnl_library} REALPATH)
find_library(SLEEF_LIBRARY sleef REQUIRED)
get_filename_component(sleef_real ${SLEEF_LIBRARY} REALPATH)

function(paddle_install_libraries destination component)
  install(FILES ${dnnl_real} DESTINATION ${destination} COMPONENT ${component} RENAME libdnnl.so.3
          PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  install(FILES ${sleef_real} DESTINATION ${destination} COMPONENT ${component} RENAME libsleef.so.3)
  install(TARGETS paddle_core LIBRARY DESTINATION ${destination} COMPONENT ${component})
  foreach(own paddle_codegen paddle_gloo)  # opened when first needed
    if(TARGET ${own})
      install(TARGETS ${own} LIBRARY DESTINATION ${destination} COMPONENT ${component})
    endif()
  endforeach()
endfunction()

foreach(target paddle_core paddle_codegen)
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN")
    target_link_options(${target} PRIVATE $<$<CONFIG:Release>:LINKER:--strip-debug>)
  endif()
endforeach()

if(TARGET paddle_ext)
  paddle_install_libraries(paddle python)
  install(TARGETS paddle_ext LIBRARY DESTINATION paddle COMPONENT python)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/python/paddle/ DESTINATION paddle COMPONENT python
          PATTERN "__pycache__" EXCLUDE PATTERN "*.pyc" EXCLUDE)
  install(FILES ${PADDLE_GENERATED}/python/_C_ops.pyi ${PADDLE_GENERATED}/python/_op_docs.py DESTINATION paddle
          COMPONENT python)
  # Stubs of what comes from the extension module, written by looking at the package just installed.
  install(CODE "execute_process(COMMAND \"${Python_EXECUTABLE}\" \"${CMAKE_SOURCE_DIR}/tools/stubgen\"
                                --package \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/paddle\"
                                COMMAND_ERROR_IS_FATAL ANY)" COMPONENT python)
endif()

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
paddle_install_libraries(${CMAKE_INSTALL_LIBDIR} cpp)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/src/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/paddle COMPONENT cpp FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${PADDLE_GENERATED}/api ${PADDLE_GENERATED}/base DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/paddle COMPONENT cpp
        FILES_MATCHING PATTERN "*.h" PATTERN "*.inc")
# What a device plugin is built against, by itself.
install(FILES ${CMAKE_SOURCE_DIR}/src/device/device_api.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/paddle/device
        COMPONENT device_api)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/paddle-config.cmake.in ${CMAKE_BINARY_DIR}/paddle-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/paddle
                              PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/paddle-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/paddle-config.cmake ${CMAKE_BINARY_DIR}/paddle-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/paddle COMPONENT cpp)
