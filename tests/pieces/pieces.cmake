# It reads bits.json.
if(TARGET pieces_bits_test)
  find_package(nlohmann_json REQUIRED)
  target_link_libraries(pieces_bits_test PRIVATE nlohmann_json::nlohmann_json)
endif()
