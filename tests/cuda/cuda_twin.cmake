# A build without nvcc has nothing to compare.
set_tests_properties(cuda_twin_sass_test PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")
