#pragma once
// The server of one picture's page, on 127.0.0.1.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>
#include "view/regions.hpp"
#include "view/scene.hpp"

namespace areal::command::page {

struct ServerOptions {
  std::string name;                        // of the picture
  std::vector<std::string> notes;          // about it
  std::vector<view::DrawnRegion> regions;  // that the page begins with; their ids do not count
  std::uint16_t port = 0;                  // 0: any
  std::uint64_t layer_memory = 0;          // bytes that the computation of a layer may take
  int threads = 0;                         // of a layer
};

class Server {
 public:
  /// Listens. `picture` must stay valid, and belongs to this server alone. Throws IoError if the port is in use.
  Server(view::Scene& picture, ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// http://127.0.0.1:PORT/TOKEN/
  const std::string& url() const noexcept;
  /// Called once, when a browser has requested the page.
  void on_page(std::function<void()> call);
  /// Answers until SIGINT, SIGTERM or SIGHUP comes, and returns that signal.
  int run();

  struct State;  // of the implementation

 private:
  std::unique_ptr<State> state_;
};

}  // namespace areal::command::page
