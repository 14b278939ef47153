// Where the page gets its picture, tiles and answers: from the server. Other pages have another module in its place.

import {Link} from './link.js';
import {readTile} from './tiles.js';

/** {picture, place: where the answers come from, exports, tile(channel, level, column, row, signal, generation),
 * link(handlers), layer(id): the bytes of a layer; only from a server} */
export async function openSource() {
  const picture = await (await fetch('picture.json')).json();
  return {
    picture,
    place: 'live',
    exports: true,
    link: (handlers) => new Link(handlers),
    async layer(id) {
      const response = await fetch(`layer/${id}`);
      if (!response.ok) throw new Error(`the server answered ${response.status}`);
      return response.arrayBuffer();
    },
    async tile(channel, level, column, row, signal, generation = picture.generation) {
      const response = await fetch(`tile/${generation}/${channel}/${level}/${column}/${row}`, {signal});
      if (!response.ok) throw new Error(`the server answered ${response.status}`);
      return readTile(await response.arrayBuffer());
    },
  };
}
