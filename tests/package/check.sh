#!/usr/bin/env bash
# check.sh find_package|pkg_config|static TREE BUILD SCRATCH: builds and runs main.cpp as a user of areal would.
#   find_package, pkg_config   against `cmake --install BUILD`, outside the tree
#   static                     the tree by add_subdirectory and as a static library; then that one installed and found.
#                              One SIMD target, no optimisation and, unless AREAL_TEST_FULL=1, no CUDA and several sources in
#                              one: what is checked is the build, and it is compiled anew
set -euo pipefail
mode=$1 tree=$2 build=$3 scratch=$4
here=$tree/tests/package
rm -rf "$scratch"
mkdir -p "$scratch"
# Neither the tree nor an areal installed on this machine may help.
unset CMAKE_PREFIX_PATH CPATH LIBRARY_PATH LD_LIBRARY_PATH PKG_CONFIG_PATH
export CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)}

configure() { cmake -G Ninja "$@" >"$scratch/configure.log" || { cat "$scratch/configure.log"; return 1; }; }
# Moved after installation, so that a path compiled into it shows.
install_to() {
  cmake --install "$1" --prefix "$2.first" >/dev/null
  mv "$2.first" "$2"
}
found_by_cmake() {
  configure -S "$here" -B "$scratch/$1" "-DCMAKE_PREFIX_PATH=$2"
  grep -q "^areal_DIR:.*=$2/" "$scratch/$1/CMakeCache.txt"
  cmake --build "$scratch/$1"
  "$scratch/$1/consumer"
  [[ -z $(find "$2" -name 'libareal_chunked*') ]] || "$scratch/$1/chunked_consumer"
}
found_by_pkg_config() {
  PKG_CONFIG_PATH=$(dirname "$(find "$1" -name areal.pc)")
  export PKG_CONFIG_PATH
  [[ $(pkg-config --modversion areal) == "$(sed -n 's/.*VERSION_STRING "\(.*\)"/\1/p' "$tree/include/areal/version.hpp")" ]]
  # shellcheck disable=SC2046
  ${CXX:-c++} -std=c++20 "$here/main.cpp" -o "$scratch/by_pkg_config" $(pkg-config --cflags --libs areal)
  LD_LIBRARY_PATH=$(pkg-config --variable=libdir areal) "$scratch/by_pkg_config"
}

case $mode in
  find_package)
    install_to "$build" "$scratch/prefix"
    found_by_cmake consumer "$scratch/prefix"
    ;;
  pkg_config)
    install_to "$build" "$scratch/prefix"
    found_by_pkg_config "$scratch/prefix"
    ;;
  static)
    configure -S "$here/subdirectory" -B "$scratch/subdirectory" "-DAREAL_TREE=$tree" -DBUILD_SHARED_LIBS=OFF \
      -DAREAL_INSTALL=ON "-DCMAKE_CXX_FLAGS=-O0 -DHWY_COMPILE_ONLY_STATIC" \
      "-DAREAL_CUDA=$([[ ${AREAL_TEST_FULL:-} == 1 ]] && echo ON || echo OFF)" \
      "-DCMAKE_UNITY_BUILD=$([[ ${AREAL_TEST_FULL:-} == 1 ]] && echo OFF || echo ON)"
    cmake --build "$scratch/subdirectory"
    "$scratch/subdirectory/consumer"
    install_to "$scratch/subdirectory" "$scratch/prefix"
    found_by_cmake consumer "$scratch/prefix"
    found_by_pkg_config "$scratch/prefix"
    ;;
  *) echo "check.sh: unknown mode '$mode'" >&2 && exit 2 ;;
esac
