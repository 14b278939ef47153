# What stops the command at a call (stop_at.cpp).
if(TARGET areal_command)
  areal_preloaded(stop_at command/stop_at.cpp pthread)
  add_dependencies(command_interrupt_test stop_at)
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")  # which delivers signals later
    set_tests_properties(command_interrupt_test PROPERTIES DISABLED TRUE)
  endif()
endif()
