# The same question through every way that areal answers it, against an oracle that shares no code with it: `./run doors`.
# The number of questions is fixed, so that it does not depend on the clock.
if(TARGET areal_command AND AREAL_HAS_PYTHON)
  add_test(NAME doors COMMAND ${AREAL_PYTHON_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/doors/doors.py --build ${PROJECT_BINARY_DIR} --jobs 2)
  set_tests_properties(doors PROPERTIES LABELS once TIMEOUT 1800 PROCESSORS 2 ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
endif()
