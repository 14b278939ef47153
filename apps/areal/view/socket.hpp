#pragma once
// The WebSocket of a page: questions, changes of regions and of the range, videos and layers.

#include "view/server_state.hpp"

#include <areal/cancel.hpp>
#include <areal/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/websocket.hpp>
#include <deque>
#include "view/layers.hpp"
#include "view/message.hpp"

namespace areal::command::page {

namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;

inline constexpr std::size_t most_unsent_bytes = std::size_t{8} << 20;

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
      std::string facts, error;
      try {
        state.picture.set_range(set.range);
        facts = picture_text(state.picture, state.name, state.notes);
      } catch (const std::exception& thrown) {
        error = thrown.what();
      }
      asio::post(state.io, [socket = std::move(self), set, facts = std::move(facts), error = std::move(error)] {
        socket->range_changed(set, facts, error);
      });
    });
  }
  void range_changed(const SetRange& set, const std::string& facts, const std::string& error) {
    if (error.empty()) {
      state_.facts = facts;
      state_.tell_all(range_text(set.range));
    }
    send(error.empty() ? done_text(set.n) : error_text(set.n, error));
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

}  // namespace areal::command::page
