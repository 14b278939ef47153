# The program that answers questions through each way of the public headers, for the tests that compare these ways.
find_package(nlohmann_json QUIET)
if(TARGET areal_chunked AND nlohmann_json_FOUND)
  file(GLOB doors_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/doors/*.cpp)
  add_executable(areal_doors ${doors_sources})
  # Compiling it takes longer than what it does outside of the library.
  target_compile_options(areal_doors PRIVATE $<$<CONFIG:Release>:-O1>)
  target_include_directories(areal_doors PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(areal_doors PRIVATE areal areal_chunked nlohmann_json::nlohmann_json)
  areal_warnings(areal_doors)
endif()
