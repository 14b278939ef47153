# Where the loader finds the libraries of what is installed: in the build tree and, another list, in an installation.
#
# CMake would end the former by a colon, by which its editor finds the entry when it installs, and the loader takes what
# follows for the working directory: whoever put a libfmt.so.9 there had it run. So what is linked has its list from
# INSTALL_RPATH, which CMake leaves as it is, and what is installed gets the other list by a rule of ours.
# tests/package/strangers_test.py looks at every binary.
#
#   areal_rpath(TARGET [BUILD ELEMENT..] [INSTALL ELEMENT..])   before it is installed
#   areal_install_rpath(TARGET DESTINATION FOLDER [COMPONENT NAME EXCLUDE_FROM_ALL])   after install(TARGETS)
function(areal_rpath target)
  cmake_parse_arguments(PARSE_ARGV 1 rpath "" "" "BUILD;INSTALL")
  if(NOT rpath_BUILD)
    set(rpath_BUILD ${CMAKE_BUILD_RPATH})
  endif()
  list(APPEND rpath_BUILD ${PROJECT_BINARY_DIR}/src)
  if(AREAL_FFMPEG)
    list(APPEND rpath_BUILD ${AREAL_FFMPEG}/lib)
  endif()
  if(NOT rpath_INSTALL)
    set(rpath_INSTALL ${CMAKE_INSTALL_RPATH})
  endif()
  # The installation's list takes the place of this one and may not be longer; slashes at the end mean nothing.
  list(JOIN rpath_BUILD ":" here)
  list(JOIN rpath_INSTALL ":" there)
  string(LENGTH "${here}" here)
  string(LENGTH "${there}" there)
  if(there GREATER here)
    math(EXPR more "${there} - ${here}")
    string(REPEAT "/" ${more} slashes)
    string(APPEND rpath_BUILD ${slashes})
  endif()
  set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "${rpath_BUILD}"
                                             INSTALL_RPATH_USE_LINK_PATH ON AREAL_INSTALLED_RPATH "${rpath_INSTALL}")
endfunction()

function(areal_install_rpath target)
  cmake_parse_arguments(PARSE_ARGV 1 install "EXCLUDE_FROM_ALL" "DESTINATION;COMPONENT" "")
  get_target_property(kind ${target} TYPE)
  if(kind STREQUAL "STATIC_LIBRARY" OR CMAKE_SKIP_RPATH)
    return()
  endif()
  get_target_property(elements ${target} AREAL_INSTALLED_RPATH)
  set(component)
  if(install_COMPONENT)
    set(component COMPONENT ${install_COMPONENT})
  endif()
  if(install_EXCLUDE_FROM_ALL)
    list(APPEND component EXCLUDE_FROM_ALL)
  endif()
  set(file "\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${install_DESTINATION}/$<TARGET_FILE_NAME:${target}>")
  if(elements)
    list(JOIN elements ":" elements)
    string(REPLACE "$" "\\$" elements "${elements}")
    install(CODE "file(RPATH_SET FILE \"${file}\" NEW_RPATH \"${elements}\")" ${component})
  else()
    install(CODE "file(RPATH_REMOVE FILE \"${file}\")" ${component})
  endif()
endfunction()
