#pragma once
// What the parts of the server share: the picture, its regions and layers, and what answers are about.

#include <utility>  // before Asio of Boost 1.74, which lacks it

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>
#include "view/film.hpp"
#include "view/server.hpp"
#include "view/worker.hpp"

namespace areal::command::page {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;
using namespace std::chrono_literals;

inline constexpr auto header_time = 10s, idle_time = 60s;

class Socket;

struct Server::State {
  State(view::Scene& shown, ServerOptions chosen);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void accept();
  /// To every page.
  void tell_all(const std::string& message);
  /// Another frame, or another state of the video: regions go where their trackers are.
  void tell_frame();

  view::Scene& picture;
  view::Film* const film;  // the picture, if it is a video
  const std::string name;
  const std::vector<std::string> notes;
  std::string facts;  // picture.json
  const std::string token;
  const std::uint64_t layer_memory;
  const int threads;
  std::string url;
  std::function<void()> on_page;
  std::map<std::uint64_t, std::shared_ptr<const std::string>> layers;  // the newest of each page
  std::uint64_t next_layer = 1;
  std::atomic<bool> ends = false;
  view::Regions regions;
  int connections = 0, signal = 0;
  std::set<Socket*> sockets;
  asio::io_context io{1};
  tcp::acceptor acceptor;
  asio::steady_timer retry;
  asio::signal_set signals;
  Worker worker, layer_worker;  // last: their jobs use the others
};

/// What answers are about: the picture, or the frame of a video that is shown now, which stays in memory meanwhile.
class Shown {
 public:
  explicit Shown(const Server::State& state) : Shown(state, state.film != nullptr ? state.film->shot() : nullptr) {}
  Shown(const Server::State& state, std::shared_ptr<const view::Shot> shot) : scene_(&state.picture) {
    if (!shot) return;
    scene_ = &shot->picture;
    shot_ = std::move(shot);
  }
  const view::Scene& scene() const { return *scene_; }
  std::optional<std::int64_t> frame() const { return shot_ ? std::optional(shot_->number) : std::nullopt; }

 private:
  const view::Scene* scene_;
  std::shared_ptr<const view::Shot> shot_;
};

/// Counts as one of the connections while it lives.
class Place {
 public:
  explicit Place(Server::State* state) noexcept : state_(state) { ++state->connections; }
  Place(Place&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Place& operator=(Place&&) = delete;
  ~Place() {
    if (state_ != nullptr) --state_->connections;
  }

 private:
  Server::State* state_;
};

}  // namespace areal::command::page
