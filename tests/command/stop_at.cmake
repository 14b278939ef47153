# What stops the command at a call (stop_at.cpp). Not instrumented: it runs before the sanitizers' own libraries.
if(TARGET areal_command)
  add_library(stop_at MODULE ${CMAKE_CURRENT_SOURCE_DIR}/command/stop_at.cpp)
  set_target_properties(stop_at PROPERTIES PREFIX "")
  target_compile_options(stop_at PRIVATE -fno-sanitize=all)
  target_link_options(stop_at PRIVATE -fno-sanitize=all)
  target_link_libraries(stop_at PRIVATE ${CMAKE_DL_LIBS} pthread)
  areal_warnings(stop_at)
  add_dependencies(command_interrupt_test stop_at)
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")  # which delivers signals later
    set_tests_properties(command_interrupt_test PROPERTIES DISABLED TRUE)
  endif()
endif()
