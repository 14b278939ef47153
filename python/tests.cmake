# The package's tests: each of ctest's is one run of a tool. The label `once`: with the Release build alone.
set(python_environment PYTHONPATH=${PROJECT_BINARY_DIR}/python PYTHONDONTWRITEBYTECODE=1
                       HYPOTHESIS_STORAGE_DIRECTORY=${PROJECT_BINARY_DIR}/python/hypothesis)
function(areal_python_test name)
  add_test(NAME ${name} COMMAND ${AREAL_PYTHON_EXECUTABLE} ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${python_environment}" TIMEOUT 900)
endfunction()

if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
  # Python is not instrumented: the sanitizer's library is loaded before it, and libstdc++, whose __cxa_throw it looks up at its start.
  # Python's own allocations are seen with PYTHONMALLOC. What Python keeps until its end would be reported as leaks: nanobind's own
  # report and the tests of memory look for ours.
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.asan-x86_64.so OUTPUT_VARIABLE asan_library OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.so.6 OUTPUT_VARIABLE cxx_library OUTPUT_STRIP_TRAILING_WHITESPACE)
  list(APPEND python_environment "LD_PRELOAD=${asan_library}:${cxx_library}" PYTHONMALLOC=malloc AREAL_TEST_SHORT=1
       ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1)
  areal_python_test(python_sanitized -m pytest -q -m sanitize python/tests)
  set_tests_properties(python_sanitized PROPERTIES COST 198)  # see the end of tests/CMakeLists.txt
else()
  list(APPEND python_environment MYPYPATH=${PROJECT_BINARY_DIR}/python)
  areal_python_test(python_pytest -m pytest -q python/tests)
  if(EXISTS ${PROJECT_SOURCE_DIR}/.venv/opencv4/cv2)  # ./run deps --all: OpenCV 4 beside OpenCV 5
    areal_python_test(python_opencv4 -m pytest -q python/tests/test_cv2.py)
    set_tests_properties(python_opencv4 PROPERTIES LABELS once
                         ENVIRONMENT "${python_environment};PYTHONPATH=${PROJECT_SOURCE_DIR}/.venv/opencv4:${PROJECT_BINARY_DIR}/python")
  endif()
  areal_python_test(python_mypy -m mypy --config-file pyproject.toml --cache-dir ${PROJECT_BINARY_DIR}/python/mypy -p areal)
  areal_python_test(python_pyright -m pyright --pythonpath ${AREAL_PYTHON_EXECUTABLE} ${PROJECT_BINARY_DIR}/python/areal)
  areal_python_test(python_stubtest python/tests/stubtest.py --mypy-config-file pyproject.toml areal._core)
  areal_python_test(python_api docs/python_api.py ${PROJECT_BINARY_DIR}/python/areal/_core.pyi --check)
  areal_python_test(python_wheel python/tests/wheel.py --build ${PROJECT_BINARY_DIR})
  set_tests_properties(python_pytest python_mypy python_pyright python_stubtest python_api python_wheel PROPERTIES LABELS once)
  set_tests_properties(python_pytest PROPERTIES COST 198)
endif()
