# The command under mpirun, and the script that starts ranks.
if(TARGET mpi_command_test)
  target_compile_definitions(mpi_command_test PRIVATE AREAL_RUN_RANKS="${CMAKE_CURRENT_SOURCE_DIR}/mpi/run-ranks")
  add_dependencies(mpi_command_test areal_mpi_command)
endif()
# What waits for a rank that does not come is not waited for. Open MPI does not give all of its memory back. Ranks wait more than they
# compute, mostly for mpirun to start and to end, so other tests run at the same time.
file(GLOB mpi_tests CONFIGURE_DEPENDS mpi/*mpi_*test.cpp)
foreach(source IN LISTS mpi_tests)
  cmake_path(GET source STEM name)
  if(TARGET ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT 300
                         ENVIRONMENT "${test_environment};ASAN_OPTIONS=${asan_options}:detect_leaks=0")
  endif()
endforeach()
