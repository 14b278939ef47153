# README's table of benchmarks is made of the files under bench/results/, and of nothing else.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_FOUND)
  add_test(NAME bench_report_test COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/bench/pages/report.py --check)
  set_tests_properties(bench_report_test PROPERTIES LABELS once)
endif()
# The peers of the GPU's benchmarks need NumPy, as the script of theirs does.
set_tests_properties(bench_gpu_peers_test PROPERTIES SKIP_RETURN_CODE 77)
