// The WebSocket: one question in flight, changes of regions, and a new connection when one is lost.

export class Link {
  /** `handlers`: opened, closed, regions(list, revision), answer(message), survey(state), frame(state), range([low, high]),
   * error(sentence). */
  constructor(handlers) {
    this.handlers = handlers;
    this.n = 0;
    this.asked = 0; // the question in flight; 0: none
    this.changes = new Map(); // n of a change -> {resolve, reject}
    this.wait = 250;
    this.connect();
  }

  get open() {
    return this.socket.readyState === WebSocket.OPEN;
  }

  connect() {
    const url = new URL('ws', location.href);
    url.protocol = 'ws:';
    this.socket = new WebSocket(url);
    this.socket.onopen = () => {
      this.wait = 250;
      this.asked = 0;
      this.handlers.opened();
    };
    this.socket.onmessage = (event) => this.take(JSON.parse(event.data));
    this.socket.onclose = () => {
      this.asked = 0;
      for (const change of this.changes.values()) change.reject(new Error('the connection was lost'));
      this.changes.clear();
      this.handlers.closed();
      setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(5000, this.wait * 2);
    };
  }

  take(message) {
    const change = this.changes.get(message.n);
    if (change) {
      this.changes.delete(message.n);
      if (message.error) change.reject(new Error(message.error));
      else change.resolve(message);
      return;
    }
    if (message.survey) {
      this.handlers.survey(message.survey);
      return;
    }
    if (message.frame?.number !== undefined) {
      this.handlers.frame(message.frame);
      return;
    }
    if (message.revision !== undefined) {
      this.handlers.regions(message.regions, message.revision);
      return;
    }
    if (message.n === undefined && message.range) {
      this.handlers.range(message.range);
      return;
    }
    if (message.n === this.asked) this.asked = 0;
    if (message.error) this.handlers.error(message.error);
    else this.handlers.answer(message);
  }

  /** Asks unless a question is in flight or the connection is lost; tells whether it did. */
  ask(channel, regions, final, reference = null) {
    if (!this.open || this.asked) return false;
    this.asked = ++this.n;
    this.socket.send(JSON.stringify({do: 'ask', n: this.asked, channel, regions, final, reference}));
    return true;
  }

  /** Resolves to the region's id. `id` null: a new region. */
  set(id, name, box) {
    return this.act({do: 'set', id, name, box}).then((message) => message.id);
  }
  remove(id) {
    return this.act({do: 'remove', id}).then((message) => message.id);
  }
  setRange(range) {
    return this.act({do: 'range', range});
  }
  /** Sends a message; resolves to the reply. */
  act(message) {
    if (!this.open) return Promise.reject(new Error('the connection is lost'));
    const n = ++this.n;
    return new Promise((resolve, reject) => {
      this.changes.set(n, {resolve, reject});
      this.socket.send(JSON.stringify({...message, n}));
    });
  }
}
