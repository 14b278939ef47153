#include "bench/harness/peers.hpp"
#include <dlfcn.h>
#include <fmt/format.h>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include "io/output_of.hpp"
#include "json/read.hpp"

namespace areal::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_answer = 16 << 20;  // of Python, in bytes

fs::path here() { return fs::read_symlink("/proc/self/exe").parent_path(); }

/// A file next to the command or in its installation; in the build tree also there and in the sources. No other folder:
/// what is found is run, and somebody else may own it.
fs::path find(const std::string& name) {
  const char* const given = std::getenv("AREAL_BENCH_DIR");
  std::vector<fs::path> folders{given ? given : "", here(), here() / "../lib/areal"};
  std::error_code ignored;
  if (fs::equivalent(here() / "../..", AREAL_BUILD_TREE, ignored))
    folders.insert(folders.end(), {here() / "../../bench", AREAL_BENCH_SOURCES});
  for (const fs::path& folder : folders)
    if (!folder.empty() && fs::exists(folder / name, ignored)) return folder / name;
  return {};
}

void* opencv_library = nullptr;

/// The Python to run: that of AREAL_PEERS_PYTHON, that of the tree, or the first in PATH.
std::string python() {
  if (const char* const given = std::getenv("AREAL_PEERS_PYTHON"); given != nullptr && *given != 0) return given;
  const fs::path own = fs::path(AREAL_BENCH_SOURCES) / "../../.venv/bin/python";
  std::error_code ignored;
  return fs::exists(own, ignored) ? own.string() : "python3";
}

void* opencv_function(const char* name, std::string& missing) {
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
  return dlsym(opencv_library, name);
}
PythonPeer python_peer(const nlohmann::json& row) {
  const auto times = [&](const char* key) {
    return row.contains(key) ? times_of(row.at(key).get<std::vector<double>>()) : Times{};
  };
  return {row.at("name"), row.at("version"), times("time_us"), times("areal_us"), times("floor_us")};
}
}  // namespace

CvIntegral find_opencv(std::string& missing) {
  return reinterpret_cast<CvIntegral>(opencv_function("areal_cv_integral", missing));
}

CvBoxFilter find_opencv_box_filter(std::string& missing) {
  return reinterpret_cast<CvBoxFilter>(opencv_function("areal_cv_box_filter", missing));
}

CvHistograms find_opencv_histograms(std::string& missing) {
  return reinterpret_cast<CvHistograms>(opencv_function("areal_cv_histograms", missing));
}

void* find_cuda_bench(const char* function, std::string& missing) {
  const fs::path path = find("areal_cuda_bench.so");
  void* const library = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    missing = path.empty() ? "areal_cuda_bench.so was not found next to the command" : dlerror();
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
  const std::string text = command::output_of(
      {python(), script.string(), std::to_string(width), std::to_string(height), std::to_string(repetitions)});
  std::vector<PythonPeer> peers;
  nlohmann::json answer;
  if (read_json(text, most_answer, answer).empty() && answer.is_array())
    for (const auto& row : answer) peers.push_back(python_peer(row));
  if (peers.empty()) missing = "NumPy and scikit-image were not found by " + python();
  return peers;
}

std::vector<PythonGpuPeer> time_python_gpu(const std::vector<PythonCase>& cases, int repetitions, int device,
                                           const std::function<void(const std::string&)>& note) {
  const fs::path script = find("python_gpu_peers.py");
  if (script.empty()) {
    note("bench/python_gpu_peers.py was not found");
    return {};
  }
  std::vector<std::string> words{python(), script.string(), std::to_string(device), std::to_string(repetitions)};
  for (const PythonCase& c : cases) words.push_back(fmt::format("{}:{}x{}", c.types, c.width, c.height));
  std::istringstream lines(command::output_of(words));
  std::vector<PythonGpuPeer> peers;
  bool answered = false;
  for (std::string line; std::getline(lines, line);) {
    nlohmann::json row;
    if (!read_json_object(line, most_answer, row).empty()) continue;
    answered = true;
    if (row.contains("missing"))
      note(row.at("missing"));
    else
      peers.push_back({{row.at("lane"), row.at("width"), row.at("height")}, python_peer(row)});
  }
  if (!answered) note("PyTorch and CuPy were not found: " + python() + " did not answer");
  return peers;
}

}  // namespace areal::bench
