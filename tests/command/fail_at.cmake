# A file system that fails at a chosen operation (fail_at.cpp).
if(TARGET areal_command)
  areal_preloaded(fail_at command/fail_at.cpp)
  add_dependencies(command_durable_test fail_at)
endif()
