# The newest record of the sweep behind `auto`, where there is one.
file(GLOB sat_sweeps CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/results/*-cuda-sat-sweep.json)
if(sat_sweeps)
  list(SORT sat_sweeps)
  list(GET sat_sweeps -1 sat_sweep)
  cmake_path(GET sat_sweep FILENAME sat_sweep_name)
  target_compile_definitions(sat_sweep_test PRIVATE AREAL_SAT_SWEEP="${sat_sweep}" AREAL_SAT_SWEEP_NAME="${sat_sweep_name}")
endif()
