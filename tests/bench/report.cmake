# The README's table of benchmarks comes only from the files under bench/results/.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_FOUND)
  add_test(NAME bench_report_test COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/bench/pages/report.py --check)
  set_tests_properties(bench_report_test PROPERTIES LABELS once)
endif()
# The peers of the GPU benchmarks need NumPy, as their script does.
set_tests_properties(bench_gpu_peers_test PROPERTIES SKIP_RETURN_CODE 77)
