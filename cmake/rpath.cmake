# Two lists of folders in which the loader finds libraries: for the build tree and for an installation.
#
# CMake would end the build tree's list with a colon, to find the entry again when it installs. The loader reads an empty
# entry as the working directory and would run a libfmt.so.9 from there. So INSTALL_RPATH, which CMake does not change,
# sets the list when linking, and a rule of ours replaces it when installing. tests/package/strangers_test.py checks every
# binary.
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
  # The installation's list replaces this one and may not be longer: pad with trailing slashes, which have no meaning.
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
