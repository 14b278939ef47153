#include "view/server.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <array>
#include <csignal>
#include <string_view>
#include "view/app_files.hpp"
#include "view/exports.hpp"
#include "view/page_file.hpp"
#include "view/request.hpp"
#include "view/response.hpp"
#include "view/server_state.hpp"
#include "view/socket.hpp"

namespace areal::command::page {
namespace {

constexpr int most_connections = 32, most_sockets = 4;
constexpr auto farewell_time = 1s;

/// 128 random bits.
std::string new_token() {
  std::array<unsigned char, token_digits / 2> bytes;
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw IoError("no random numbers for the token of the page's address");
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

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
        return respond({.content_type = "application/json", .body = state_.facts});
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

Server::State::State(view::Scene& shown, ServerOptions chosen)
    : picture(shown),
      film(shown.film()),
      name(chosen.name),
      notes(chosen.notes),
      facts(picture_text(shown, name, notes)),
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

Server::State::~State() {
  ends = true;  // the computation of a layer
  picture.on_survey({});
  if (film != nullptr) film->on_change({});
}

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
