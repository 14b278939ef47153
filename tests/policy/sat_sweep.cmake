# The newest record of the sweep behind `auto`, where there is one.
file(GLOB sat_sweeps CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/results/*-cuda-sat-sweep.json)
if(sat_sweeps)
  list(SORT sat_sweeps)
  list(GET sat_sweeps -1 sat_sweep)
  target_compile_definitions(sat_sweep_test PRIVATE AREAL_SAT_SWEEP="${sat_sweep}")
endif()
