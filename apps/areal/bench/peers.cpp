#include "peers.hpp"
#include <dlfcn.h>
#include <fmt/format.h>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace areal::bench {
namespace {

namespace fs = std::filesystem;

fs::path here() { return fs::read_symlink("/proc/self/exe").parent_path(); }

/// A file beside the command, in the build tree or in the sources that it was built from.
fs::path find(const std::string& name) {
  const char* const given = std::getenv("AREAL_BENCH_DIR");
  for (const fs::path& folder : {fs::path(given ? given : ""), here(), here() / "../../bench", here() / "../lib/areal",
                                 fs::path(AREAL_BENCH_SOURCES)})
    if (std::error_code ignored; !folder.empty() && fs::exists(folder / name, ignored)) return folder / name;
  return {};
}

void* opencv_library = nullptr;

}  // namespace

CvIntegral find_opencv(std::string& missing) {
  const fs::path path = find("areal_opencv_peer.so");
  if (path.empty()) {
    missing = "OpenCV was not found when areal was built";
    return nullptr;
  }
  opencv_library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opencv_library == nullptr) {
    missing = fmt::format("OpenCV could not be opened: {}", dlerror());
    return nullptr;
  }
  return reinterpret_cast<CvIntegral>(dlsym(opencv_library, "areal_cv_integral"));
}

void* find_cuda_bench(const char* function, std::string& missing) {
  const fs::path path = find("areal_cuda_bench.so");
  void* const library = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    missing = path.empty() ? "areal_cuda_bench.so was not found beside the command" : dlerror();
    return nullptr;
  }
  return dlsym(library, function);
}

std::string opencv_version() {
  if (opencv_library == nullptr) return {};
  const auto version = reinterpret_cast<const char* (*)()>(dlsym(opencv_library, "areal_cv_version"));
  return version ? version() : "";
}

std::vector<PythonPeer> time_python(std::int64_t width, std::int64_t height, int repetitions, std::string& missing) {
  const fs::path script = find("python_peers.py");
  if (script.empty()) {
    missing = "bench/python_peers.py was not found";
    return {};
  }
  const fs::path own = fs::path(AREAL_BENCH_SOURCES) / "../.venv/bin/python";
  const std::string python = fs::exists(own) ? own.string() : "python3";
  const std::string command =
      fmt::format("'{}' '{}' {} {} {} 2>/dev/null", python, script.string(), width, height, repetitions);
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) {
    missing = "python3 could not be started";
    return {};
  }
  std::string text;
  char part[4096];
  for (std::size_t n = 0; (n = std::fread(part, 1, sizeof part, pipe)) > 0;) text.append(part, n);
  pclose(pipe);
  std::vector<PythonPeer> peers;
  const nlohmann::json answer = nlohmann::json::parse(text, nullptr, false);
  if (answer.is_array())
    for (const auto& row : answer)
      peers.push_back({row.at("name"), row.at("version"), times_of(row.at("time_us").get<std::vector<double>>())});
  if (peers.empty()) missing = "NumPy and scikit-image were not found by " + python;
  return peers;
}

}  // namespace areal::bench
