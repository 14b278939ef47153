// Tiles: their bytes, their colours, and the layer of Leaflet that shows them.
/* global L */

const side = 256, header = 20, noValue = 65535;

/** The values of a tile, as view/picture.hpp writes them. */
export function readTile(buffer) {
  const view = new DataView(buffer);
  if (view.getUint32(0) !== 0x6172746c || view.getUint8(4) !== 1) throw new Error('this is no tile');
  const type = view.getUint8(5), channels = view.getUint8(6);
  const width = view.getUint16(8, true), height = view.getUint16(10, true);
  const values = new [Uint8Array, Uint16Array, Float32Array][type](buffer, header);
  if (values.length !== width * height * channels) throw new Error('a tile was cut off');
  return {type, channels, width, height, scale: view.getFloat32(12, true), offset: view.getFloat32(16, true), values};
}

/** The gray of each entry of a tile, between the values `black` and `white`. */
export function grays(tile, black, white) {
  const entries = tile.type === 0 ? 256 : 65536;
  const gray = new Uint8ClampedArray(entries);
  const slope = white > black ? 255 / (white - black) : 0;
  for (let i = 0; i < entries; ++i) gray[i] = (tile.offset + tile.scale * i - black) * slope;
  return gray;
}

export function paint(canvas, tile, gray) {
  canvas.width = tile.width;
  canvas.height = tile.height;
  const context = canvas.getContext('2d');
  const image = context.createImageData(tile.width, tile.height);
  const {values, channels} = tile;
  const out = image.data;
  const missing = tile.type === 1 ? noValue : -1;
  for (let i = 0, at = 0; at < out.length; i += channels, at += 4) {
    const first = values[i];
    out[at] = gray[first];
    out[at + 1] = channels === 3 ? gray[values[i + 1]] : gray[first];
    out[at + 2] = channels === 3 ? gray[values[i + 2]] : gray[first];
    out[at + 3] = first === missing ? 0 : 255;
  }
  context.putImageData(image, 0, 0);
}

/** A tile that could not be had: hatched. */
function hatch(canvas) {
  canvas.width = canvas.height = side;
  const context = canvas.getContext('2d');
  context.strokeStyle = 'rgba(128,128,128,.6)';
  context.beginPath();
  for (let i = -side; i < side; i += 12) {
    context.moveTo(i, side);
    context.lineTo(i + side, 0);
  }
  context.stroke();
}

/** `source`: see source.js. `problem(sentence)` is called for a tile that cannot be had. */
export function tileLayer(source, problem) {
  const {picture} = source;
  const Layer = L.GridLayer.extend({
    initialize(options) {
      L.GridLayer.prototype.initialize.call(this, options);
      this.shown = new Map(); // canvas -> {tile, stop}
      this.channel = picture.colour ?? 0;
      [this.black, this.white] = picture.drawn;
      this.generation = picture.generation;
      this.on('tileunload', ({tile}) => {
        this.shown.get(tile)?.stop.abort();
        this.shown.delete(tile);
      });
    },
    createTile(coords, done) {
      const canvas = document.createElement('canvas');
      canvas.setAttribute('aria-hidden', 'true');
      const stop = new AbortController();
      const entry = {tile: null, stop};
      this.shown.set(canvas, entry);
      entry.request = async () => {
        for (;;) {
          const {generation} = this;
          try {
            return await source.tile(this.channel, -coords.z, coords.x, coords.y, stop.signal, generation);
          } catch (error) {
            if (stop.signal.aborted || generation === this.generation) throw error; // else another frame is shown meanwhile
          }
        }
      };
      entry.request()
        .then((tile) => {
          if (stop.signal.aborted) return;
          entry.tile = tile;
          this.draw(canvas, entry.tile);
          // Tiles at the right and the lower edge are smaller. Between two sizes of tiles the browser scales all of
          // them, and a pixel of overlap hides the seams.
          const scale = this.getTileSize().x / side;
          canvas.style.width = `calc(${entry.tile.width * scale}px + var(--seam))`;
          canvas.style.height = `calc(${entry.tile.height * scale}px + var(--seam))`;
          done(null, canvas);
        })
        .catch((error) => {
          if (stop.signal.aborted) return;
          hatch(canvas);
          problem(`A part of the picture is missing: ${error.message}`);
          done(null, canvas);
        });
      return canvas;
    },
    draw(canvas, tile) {
      const key = `${tile.type} ${tile.scale} ${tile.offset} ${this.black} ${this.white}`;
      if (this.key !== key) {
        this.key = key;
        this.gray = grays(tile, this.black, this.white);
      }
      paint(canvas, tile, this.gray);
    },
    /** Requests the tiles that are shown again, and draws each in its place. */
    reload() {
      for (const [canvas, entry] of this.shown)
        if (entry.tile)
          entry.request()
            .then((tile) => this.draw(canvas, (entry.tile = tile)))
            .catch(() => {}); // the tile that is there remains
    },
    /** Shows another frame: all tiles at once, and of frames that come meanwhile the newest. */
    async setGeneration(generation) {
      this.generation = generation;
      if (this.turns) return;
      this.turns = true;
      for (let shown = null; shown !== this.generation; ) {
        shown = this.generation;
        const entries = [...this.shown];
        const tiles = await Promise.allSettled(entries.map(([, entry]) => entry.request()));
        entries.forEach(([canvas, entry], i) => {
          if (tiles[i].status === 'fulfilled' && this.shown.has(canvas)) this.draw(canvas, (entry.tile = tiles[i].value));
        });
      }
      this.turns = false;
    },
    setContrast(black, white) {
      this.black = black;
      this.white = white;
      for (const [canvas, {tile}] of this.shown) if (tile) this.draw(canvas, tile);
    },
    setChannel(channel) {
      if (channel === this.channel) return;
      this.channel = channel;
      this.redraw();
    },
  });
  return new Layer({
    tileSize: side,
    bounds: [[-picture.height, 0], [0, picture.width]],
    maxNativeZoom: 0,
    minNativeZoom: 1 - picture.levels.length,
    minZoom: -30,
    maxZoom: 30,
    noWrap: true,
    keepBuffer: 1,
    updateWhenIdle: false,
    updateWhenZooming: true,
    updateInterval: 50,
  });
}
