// The source of a page in a notebook: messages to the kernel, through the notebook's page around this one.

import {readTile} from './tiles.js';

const patience = 1500; // milliseconds until a kernel that does not answer counts as busy

/** Sends {n, ..} and resolves to the reply with that n. */
class Kernel {
  constructor(port) {
    Object.assign(this, {port, n: 0, waiting: new Map(), handlers: null, late: 0});
    port.onmessage = ({data}) => this.take(data);
  }

  take({message, buffer}) {
    this.isBusy(false);
    if (message.revision !== undefined) {
      this.told = message;
      this.handlers?.regions(message.regions, message.revision);
      return;
    }
    if (message.n === undefined && message.range) {
      this.handlers?.range(message.range);
      return;
    }
    const request = this.waiting.get(message.n);
    if (!request) return;
    this.waiting.delete(message.n);
    if (message.error) request.reject(new Error(message.error));
    else request.resolve({message, buffer});
    if (this.waiting.size) this.watch();
  }

  send(message) {
    const n = ++this.n;
    return new Promise((resolve, reject) => {
      this.waiting.set(n, {resolve, reject});
      this.port.postMessage({...message, n});
      this.watch();
    });
  }

  watch() {
    clearTimeout(this.late);
    this.late = setTimeout(() => this.isBusy(true), patience);
  }
  isBusy(busy) {
    clearTimeout(this.late);
    if (busy) this.handlers?.closed('kernel busy');
    else if (this.wasBusy) this.handlers?.opened();
    this.wasBusy = busy;
  }
}

class KernelLink {
  constructor(kernel, handlers) {
    Object.assign(this, {kernel, handlers, open: true, busy: false});
    kernel.handlers = handlers;
    setTimeout(() => {
      handlers.opened();
      if (kernel.told) handlers.regions(kernel.told.regions, kernel.told.revision);
    });
  }

  ask(channel, regions, final, reference = null) {
    if (this.busy) return false;
    this.busy = true;
    const done = () => (this.busy = false);
    this.kernel.send({do: 'ask', channel, regions, final, reference}).then(
      ({message}) => (done(), this.handlers.answer(message)),
      (error) => (done(), this.handlers.error(error.message)));
    return true;
  }
  async set(id, name, box) {
    return (await this.kernel.send({do: 'set', id, name, box})).message.id;
  }
  async remove(id) {
    return (await this.kernel.send({do: 'remove', id})).message.id;
  }
  async setRange(range) {
    await this.kernel.send({do: 'range', range});
  }
}

export async function openSource() {
  const port = await new Promise((resolve) => {
    addEventListener('message', function take({source, ports}) {
      if (source !== parent || !ports.length) return;
      removeEventListener('message', take);
      resolve(ports[0]);
    });
    parent.postMessage('areal', '*'); // this page is there
  });
  const kernel = new Kernel(port);
  const {message: {picture}} = await kernel.send({do: 'picture'});
  return {
    picture,
    place: 'live',
    exports: false,
    link: (handlers) => new KernelLink(kernel, handlers),
    async tile(channel, level, column, row) {
      const {buffer} = await kernel.send({do: 'tile', channel, level, column, row});
      return readTile(buffer);
    },
  };
}
