// The regions, the selected one, what is dragged now, and the answers about them.

export class Model {
  constructor(picture) {
    this.picture = picture;
    this.channel = 0;
    this.regions = new Map(); // id -> {id, name, box}
    this.selected = 0; // 0: the whole picture
    this.dragged = null; // {id, box}; id -1: a new rectangle
    this.answers = new Map(); // id -> {key, answer}
    this.cursor = null; // [x, y]
  }

  drag(id, box) {
    this.dragged = box && {id, box};
  }

  /** The region that the page is about, as it is dragged now; the whole picture has id 0. */
  current() {
    if (this.dragged?.id === -1) return {id: -1, name: '', box: this.dragged.box};
    const region = this.regions.get(this.selected);
    if (!region) return {id: 0, name: '', box: [0, 0, this.picture.width, this.picture.height]};
    return this.dragged?.id === region.id ? {...region, box: this.dragged.box} : region;
  }

  setRegions(list) {
    this.regions = new Map(list.map((region) => [region.id, region]));
    if (!this.regions.has(this.selected)) this.selected = 0;
    for (const id of this.answers.keys()) if (id > 0 && !this.regions.has(id)) this.answers.delete(id);
  }

  key(box) {
    return `${this.channel}:${box}`;
  }
  /** The answer about a region, perhaps an older one; `isNew` tells. */
  answer(id) {
    return this.answers.get(id)?.answer ?? null;
  }
  isNew(id, box) {
    return this.answers.get(id)?.key === this.key(box);
  }

  /** What to ask now: [[id, x, y, w, h]], of `listed` regions, too. */
  questions(listed, most = 64) {
    const wanted = [];
    const add = (id, box) => {
      if (wanted.length < most && !this.isNew(id, box)) wanted.push([id, ...box]);
    };
    const current = this.current();
    add(current.id, current.box);
    if (this.cursor) add(-2, [...this.cursor, 1, 1]);
    for (const id of listed) if (id !== current.id && this.regions.has(id)) add(id, this.regions.get(id).box);
    return wanted;
  }
}
