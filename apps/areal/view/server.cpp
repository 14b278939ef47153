#include "view/server.hpp"

#include <utility>  // before Asio of Boost 1.74, which lacks it

#include <fmt/format.h>
#include <sys/random.h>
#include <algorithm>
#include <areal/cancel.hpp>
#include <areal/error.hpp>
#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/websocket.hpp>
#include <chrono>
#include <csignal>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include "view/app_files.hpp"
#include "view/exports.hpp"
#include "view/film.hpp"
#include "view/layers.hpp"
#include "view/message.hpp"
#include "view/page_file.hpp"
#include "view/request.hpp"
#include "view/response.hpp"
#include "view/worker.hpp"

namespace areal::command::page {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;
using boost::system::error_code;
using tcp = asio::ip::tcp;
using namespace std::chrono_literals;

constexpr int most_connections = 32, most_sockets = 4;
constexpr auto header_time = 10s, idle_time = 60s, farewell_time = 1s;
constexpr std::size_t most_unsent_bytes = std::size_t{8} << 20;

/// 128 random bits.
std::string new_token() {
  std::array<unsigned char, token_digits / 2> bytes;
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw IoError("no random numbers for the token of the page's address");
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

class Socket;

}  // namespace

struct Server::State {
  State(view::Scene& shown, ServerOptions chosen)
      : picture(shown),
        film(shown.film()),
        name(chosen.name),
        notes(chosen.notes),
        facts(std::make_shared<const std::string>(picture_text(shown, name, notes))),
        token(new_token()),
        layer_memory(chosen.layer_memory),
        threads(chosen.threads),
        regions(shown.width(), shown.height()),
        acceptor(io),
        retry(io),
        signals(io) {
    error_code error;
    acceptor.open(tcp::v4(), error);
    acceptor.set_option(asio::socket_base::reuse_address(true), error);
    acceptor.bind({asio::ip::address_v4::loopback(), chosen.port}, error);
    if (error) throw IoError(fmt::format("--port {}: {}", chosen.port, error.message()));
    acceptor.listen(most_connections, error);
    if (error) throw IoError("127.0.0.1 cannot be listened on: " + error.message());
    for (const view::DrawnRegion& region : chosen.regions) regions.set(0, region.name, region.box);
    url = fmt::format("http://127.0.0.1:{}/{}/", acceptor.local_endpoint().port(), token);
  }

  ~State() {
    ends = true;  // the computation of a layer
    picture.on_survey({});
    if (film != nullptr) film->on_change({});
  }

  void accept();
  /// To every page.
  void tell_all(const std::string& message);
  /// Another frame, or another state of the video: regions go where their trackers are.
  void tell_frame();

  view::Scene& picture;
  view::Film* const film;  // the picture, if it is a video
  const std::string name;
  const std::vector<std::string> notes;
  std::shared_ptr<const std::string> facts;  // picture.json
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

namespace {

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

/// The WebSocket of a page. All its functions run on the thread of I/O.
class Socket : public std::enable_shared_from_this<Socket> {
 public:
  Socket(Server::State& state, beast::tcp_stream stream, Place place)
      : state_(state), place_(std::move(place)), stream_(std::move(stream)) {
    state_.sockets.insert(this);
  }
  ~Socket() {
    if (layer_stops_) *layer_stops_ = true;
    state_.layers.erase(layer_);
    state_.sockets.erase(this);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  void accept(std::string header) {
    stream_.next_layer().expires_never();
    websocket::stream_base::timeout timeout{header_time, idle_time, true};
    stream_.set_option(timeout);
    stream_.read_message_max(most_message_bytes);
    stream_.text(true);
    header_ = std::move(header);
    stream_.async_accept(asio::buffer(header_), [self = shared_from_this()](error_code error) {
      if (error) return;
      self->accepted_ = true;
      self->send(regions_text(self->state_.regions));
      if (const view::Surveyed surveyed = self->state_.picture.surveyed(); surveyed.of > 0)
        self->send(survey_text(surveyed));
      if (self->state_.film != nullptr) self->send(frame_text(self->state_.film->state()));
      self->read();
    });
  }

  void send(std::string message) {
    if (!accepted_ || closing_) return;
    unsent_bytes_ += message.size();
    unsent_.push_back(std::move(message));
    if (unsent_bytes_ > most_unsent_bytes) return drop();  // a page that does not read
    if (unsent_.size() == 1) write();
  }

 private:
  void drop() {
    closing_ = true;
    stream_.next_layer().close();
  }

  void write() {
    stream_.async_write(asio::buffer(unsent_.front()), [self = shared_from_this()](error_code error, std::size_t) {
      if (error || self->closing_) return;
      self->unsent_bytes_ -= self->unsent_.front().size();
      self->unsent_.pop_front();
      if (!self->unsent_.empty()) self->write();
    });
  }

  void read() {
    stream_.async_read(buffer_, [self = shared_from_this()](error_code error, std::size_t) {
      if (error || self->closing_) return;
      if (!self->stream_.got_text()) return self->drop();
      const auto data = self->buffer_.cdata();
      const std::string text(static_cast<const char*>(data.data()), data.size());
      self->buffer_.consume(self->buffer_.size());
      Message message = read_message(text, self->state_.picture.channels(), self->state_.film != nullptr);
      std::visit([&](auto& one) { self->take(one); }, message);
      if (!self->closing_) self->read();
    });
  }

  void take(Ask& ask) {
    waiting_ = std::move(ask);
    if (!busy_) answer();
  }
  void take(const SetRegion& set) {
    change(set.n, [&] {
      send(set_text(set.n, state_.regions.set(set.id, set.name, set.box)));
      if (state_.film != nullptr) state_.film->moved(set.id, set.box);
    });
  }
  void take(const RemoveRegion& remove) {
    change(remove.n, [&] {
      state_.regions.remove(remove.id);
      send(set_text(remove.n, remove.id));
      if (state_.film != nullptr) state_.film->forget(remove.id);
    });
  }
  /// Of several that wait, the newest counts.
  void take(const SetRange& set) {
    if (waiting_range_) send(error_text(waiting_range_->n, "a newer range was requested"));
    waiting_range_ = set;
    if (!changes_range_) change_range();
  }
  void take(const Play& play) {
    view::Film& film = *state_.film;
    switch (play.act) {
      case Play::Act::play:
        film.play();
        break;
      case Play::Act::pause:
        film.pause();
        break;
      case Play::Act::seek:
        film.seek(play.frames);
        break;
      case Play::Act::step:
        film.step(play.frames);
        break;
    }
    send(done_text(play.n));
  }
  void take(const FollowRegion& follow) {
    try {
      if (follow.algorithm.empty())
        state_.film->stop(follow.id);
      else
        state_.film->track(follow.id, follow.algorithm, state_.regions.box(follow.id));
    } catch (const Error& error) {
      return send(error_text(follow.n, error.what()));
    }
    send(done_text(follow.n));
  }
  void take(AskLayer& ask) {
    if (layer_stops_) *layer_stops_ = true;  // the newest one counts
    layer_stops_ = std::make_shared<std::atomic<bool>>(false);
    // The job does not keep the socket: a page that is closed ends it.
    state_.layer_worker.post(Worker::Urgency::regions, [weak = weak_from_this(), state = &state_, stops = layer_stops_,
                                                        asked = std::move(ask)]() mutable {
      std::string text;
      view::Layer layer;
      std::optional<std::int64_t> frame;
      try {
        const CancelScope scope([&] { return !*stops && !state->ends; });
        const Shown shown(*state);
        frame = shown.frame();
        if (*stops) throw Cancelled("a newer layer was requested");
        layer = make_layer(shown.scene(), asked, state->layer_memory, state->threads);
      } catch (const std::exception& error) {
        text = error_text(asked.n, error.what());
      }
      auto bytes = text.empty() ? std::make_shared<const std::string>(layer_tile(layer)) : nullptr;
      layer.values = {};
      asio::post(state->io, [weak = std::move(weak), asked = std::move(asked), layer = std::move(layer), frame,
                             text = std::move(text), bytes = std::move(bytes)] {
        if (const auto self = weak.lock()) self->layer_made(asked, layer, frame, text, bytes);
      });
    });
  }
  void take(const Wrong& wrong) { send(error_text(wrong.n, wrong.sentence)); }

  void layer_made(const AskLayer& ask, const view::Layer& layer, std::optional<std::int64_t> frame,
                  const std::string& error, const std::shared_ptr<const std::string>& bytes) {
    if (!bytes) return send(error);
    state_.layers.erase(layer_);
    layer_ = state_.next_layer++;
    state_.layers[layer_] = bytes;
    send(layer_text(ask, layer_, layer, frame));
  }

  template <class F>
  void change(std::int64_t n, F&& make) {
    try {
      make();
    } catch (const Error& error) {
      return send(error_text(n, error.what()));
    }
    state_.tell_all(regions_text(state_.regions));
  }

  /// On the worker's thread, as answers.
  void change_range() {
    changes_range_ = true;
    const SetRange set = *std::exchange(waiting_range_, std::nullopt);
    state_.worker.post(Worker::Urgency::regions, [self = shared_from_this(), set]() mutable {
      Server::State& state = self->state_;
      std::string error;
      std::shared_ptr<const std::string> facts;
      try {
        state.picture.set_range(set.range);
        facts = std::make_shared<const std::string>(picture_text(state.picture, state.name, state.notes));
      } catch (const std::exception& thrown) {
        error = thrown.what();
      }
      asio::post(state.io, [socket = std::move(self), set, error = std::move(error), facts = std::move(facts)] {
        socket->range_changed(set, facts, error);
      });
    });
  }
  void range_changed(const SetRange& set, const std::shared_ptr<const std::string>& facts, const std::string& error) {
    if (facts) {
      state_.facts = facts;
      state_.tell_all(range_text(set.range));
    }
    send(facts ? done_text(set.n) : error_text(set.n, error));
    changes_range_ = false;
    if (waiting_range_) change_range();
  }

  /// Answers the newest question; those that came before it while another was answered are forgotten.
  void answer() {
    busy_ = true;
    Ask ask = std::move(*waiting_);
    waiting_.reset();
    state_.worker.post(Worker::Urgency::regions, [self = shared_from_this(), asked = std::move(ask)]() mutable {
      Server::State& state = self->state_;
      std::string text;
      try {
        const Shown shown(state);
        std::vector<view::Answer> answers;
        for (const AskedRegion& region : asked.regions)
          answers.push_back(shown.scene().answer(asked.channel, region.box, asked.final));
        text = answer_text(asked, answers, shown.scene().range(), shown.frame());
      } catch (const std::exception& error) {
        text = error_text(asked.n, error.what());
      }
      // The socket goes back to its own thread, also to be destroyed.
      asio::post(state.io, [socket = std::move(self), message = std::move(text)]() mutable {
        socket->busy_ = false;
        socket->send(std::move(message));
        if (socket->waiting_) socket->answer();
      });
    });
  }

  Server::State& state_;
  Place place_;
  websocket::stream<beast::tcp_stream> stream_;
  beast::flat_buffer buffer_{2 * most_message_bytes};
  std::string header_;
  bool accepted_ = false, closing_ = false, busy_ = false, changes_range_ = false;
  std::optional<Ask> waiting_;
  std::optional<SetRange> waiting_range_;
  std::shared_ptr<std::atomic<bool>> layer_stops_;
  std::uint64_t layer_ = 0;
  std::deque<std::string> unsent_;
  std::size_t unsent_bytes_ = 0;
};

/// An HTTP connection, which answers one request after another.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Server::State& state, tcp::socket socket) : state_(state), place_(&state), stream_(std::move(socket)) {}

  void start() {
    stream_.expires_after(header_time);
    read();
  }

 private:
  void read() {
    stream_.async_read_some(asio::buffer(piece_), [self = shared_from_this()](error_code error, std::size_t bytes) {
      if (error) return;
      const bool is_first = self->buffer_.empty();
      self->buffer_.append(self->piece_.data(), bytes);
      if (is_first && self->served_) self->stream_.expires_after(header_time);
      self->next();
    });
  }

  /// Takes a header from the buffer, or reads on.
  void next() {
    const std::size_t end = buffer_.find("\r\n\r\n");
    if (end == std::string::npos && buffer_.size() <= most_header_bytes) {
      if (served_ && buffer_.empty()) stream_.expires_after(idle_time);
      return read();
    }
    const std::string header = buffer_.substr(0, end == std::string::npos ? end : end + 4);
    buffer_.erase(0, header.size());
    const Request request = check_request(header, state_.token);
    keep_alive_ = request.keep_alive && request.status == 200;
    if (request.status != 200) return respond({.status = request.status});
    if (request.route.kind != Route::Kind::socket) return answer(request.route);
    // A client may send nothing before the handshake's answer.
    if (!buffer_.empty()) return refuse(400);
    if (state_.sockets.size() >= most_sockets) return refuse(503);
    std::make_shared<Socket>(state_, std::move(stream_), std::move(place_))->accept(header);
  }

  void refuse(int status) {
    keep_alive_ = false;
    respond({.status = status});
  }

  void answer(const Route& route) {
    using Kind = Route::Kind;
    switch (route.kind) {
      case Kind::page:
        if (state_.on_page) std::exchange(state_.on_page, nullptr)();
        return file("page.html");
      case Kind::app:
        return file(route.name);
      case Kind::picture:
        return respond({.content_type = "application/json", .body = *state_.facts});
      case Kind::tile:
        return tile(route);
      case Kind::layer: {
        const auto at = state_.layers.find(route.id);
        if (at == state_.layers.end()) return respond({.status = 404});
        return respond({.content_type = "application/octet-stream", .body = *at->second});
      }
      case Kind::regions_csv:
        return respond({.content_type = "text/csv; charset=utf-8",
                        .body = regions_csv(state_.regions.all()),
                        .saved_as = "regions.csv"});
      case Kind::statistics_csv:
        return save("text/csv; charset=utf-8", "statistics.csv", statistics_csv);
      case Kind::histograms_csv:
        return save("text/csv; charset=utf-8", "histograms.csv", histograms_csv);
      case Kind::tracks_csv:
        if (state_.film == nullptr) return respond({.status = 404});
        return respond(
            {.content_type = "text/csv; charset=utf-8", .body = tracks_csv(*state_.film), .saved_as = "tracks.csv"});
      case Kind::picture_png:
        return save("image/png", "picture.png", picture_png);
      case Kind::page_html:
        if (!fits_page_file(state_.picture)) return respond({.status = 404});
        return compute(Worker::Urgency::exports, "text/html; charset=utf-8", "page.html",
                       [regions = state_.regions.all()](Server::State& state) {
                         return page_file(app_file("standalone.html").bytes, state.picture,
                                          picture_text(state.picture, state.name, state.notes), regions_text(regions));
                       });
      default:
        return respond({.status = 404});
    }
  }

  /// The generation of a picture's tiles is 1, that of a video's the frame's number and 1, or 0 for the one shown now.
  void tile(const Route& at) {
    if (!state_.picture.has_tile(at.channel, at.level, at.column, at.row)) return respond({.status = 404});
    std::shared_ptr<const view::Shot> shot;
    if (state_.film != nullptr && at.generation <= std::uint64_t{1} << 62)
      shot = at.generation == 0 ? state_.film->shot() : state_.film->shot(static_cast<std::int64_t>(at.generation) - 1);
    if (state_.film != nullptr ? !shot : at.generation != 1) return respond({.status = 404});
    compute(Worker::Urgency::tiles, "application/octet-stream", "",
            [at, shown = Shown(state_, std::move(shot))](Server::State&) {
              return shown.scene().tile(at.channel, at.level, static_cast<std::int64_t>(at.column),
                                        static_cast<std::int64_t>(at.row));
            });
  }

  void file(std::string_view name) {
    const AppFile found = app_file(name);
    if (found.bytes.empty()) return respond({.status = 404});
    respond({.content_type = found.content_type, .body = std::string(found.bytes)});
  }

  void save(std::string_view content_type, std::string_view name,
            std::string (*make)(const view::Scene&, const std::vector<view::DrawnRegion>&)) {
    compute(Worker::Urgency::exports, content_type, name,
            [make, regions = state_.regions.all(), shown = Shown(state_)](Server::State&) {
              return make(shown.scene(), regions);
            });
  }

  /// Answers with what `make` returns, on the worker's thread.
  template <class Make>
  void compute(Worker::Urgency urgency, std::string_view content_type, std::string_view saved_as, Make make) {
    state_.worker.post(urgency, [self = shared_from_this(), content_type, saved_as, made = std::move(make)]() mutable {
      Server::State& state = self->state_;
      Response response{.content_type = content_type, .saved_as = saved_as};
      try {
        response.body = made(state);
      } catch (const std::exception&) {
        response = {.status = 500};
      }
      asio::post(state.io,
                 [connection = std::move(self), answer = std::move(response)] { connection->respond(answer); });
    });
  }

  void respond(const Response& response) {
    out_ = text_of(response, keep_alive_);
    sent_ = 0;
    write();
  }

  /// The time limit is for each piece: what counts is that the client reads on.
  void write() {
    stream_.expires_after(idle_time);
    stream_.async_write_some(asio::buffer(out_.data() + sent_, out_.size() - sent_),
                             [self = shared_from_this()](error_code error, std::size_t bytes) {
                               if (error) return;
                               self->sent_ += bytes;
                               if (self->sent_ < self->out_.size()) return self->write();
                               self->out_.clear();
                               self->served_ = true;
                               if (!self->keep_alive_) return self->farewell();
                               self->stream_.expires_after(self->buffer_.empty() ? idle_time : header_time);
                               self->next();
                             });
  }

  /// Reads what the client still sends, for a moment: a close would cut off the response.
  void farewell() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(farewell_time);
    drain();
  }
  void drain() {
    stream_.async_read_some(asio::buffer(piece_), [self = shared_from_this()](error_code error, std::size_t) {
      if (!error) self->drain();
    });
  }

  Server::State& state_;
  Place place_;
  beast::tcp_stream stream_;
  std::array<char, 4096> piece_;
  std::string buffer_, out_;
  std::size_t sent_ = 0;
  bool served_ = false, keep_alive_ = true;
};

}  // namespace

void Server::State::accept() {
  acceptor.async_accept([this](error_code error, tcp::socket socket) {
    if (error) {  // too many open files, for one
      retry.expires_after(100ms);
      return retry.async_wait([this](error_code) { accept(); });
    }
    if (connections < most_connections) {
      socket.set_option(tcp::no_delay(true), error);
      std::make_shared<Connection>(*this, std::move(socket))->start();
    }
    accept();
  });
}

void Server::State::tell_all(const std::string& message) {
  for (Socket* const socket : sockets) socket->send(message);
}

void Server::State::tell_frame() {
  const view::FilmState now = film->state();
  for (const view::FollowedBox& one : now.boxes) regions.follow(one.id, one.box.region());
  tell_all(frame_text(now));
}

Server::Server(view::Scene& picture, ServerOptions options)
    : state_(std::make_unique<State>(picture, std::move(options))) {
  // From now on, so that a signal that comes before `run` ends the program as one that comes later.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old {};
    if (::sigaction(signal, nullptr, &old) == 0 && old.sa_handler != SIG_IGN) state_->signals.add(signal);
  }
}
Server::~Server() = default;

const std::string& Server::url() const noexcept { return state_->url; }
void Server::on_page(std::function<void()> call) { state_->on_page = std::move(call); }

int Server::run() {
  state_->signals.async_wait([state = state_.get()](error_code, int signal) {
    state->signal = signal;
    state->io.stop();
  });
  state_->picture.on_survey([state = state_.get()] {
    asio::post(state->io, [state] { state->tell_all(survey_text(state->picture.surveyed())); });
  });
  if (state_->film != nullptr)
    state_->film->on_change([state = state_.get()] { asio::post(state->io, [state] { state->tell_frame(); }); });
  state_->accept();
  state_->io.run();
  return state_->signal;
}

}  // namespace areal::command::page
