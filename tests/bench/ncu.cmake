# Where there is no simulated machine.
set_tests_properties(ncu_bounds_test bench_papers_test PROPERTIES SKIP_RETURN_CODE 77)
