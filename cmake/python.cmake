# The Python of the tests and of the package: pip's in a pip build, else .venv's, from ./run deps.
if(DEFINED SKBUILD AND Python_EXECUTABLE)
  set(AREAL_PYTHON_EXECUTABLE ${Python_EXECUTABLE})
endif()
find_program(AREAL_PYTHON_EXECUTABLE python3 PATHS ${PROJECT_SOURCE_DIR}/.venv/bin NO_DEFAULT_PATH)
find_program(AREAL_PYTHON_EXECUTABLE python3)
