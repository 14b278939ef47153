// The regions, the selected one, what is dragged now, what is compared, and the answers about them.

export class Model {
  constructor(picture) {
    this.picture = picture;
    this.channel = 0;
    this.regions = new Map(); // id -> {id, name, box}
    this.selected = 0; // 0: the whole picture
    this.dragged = null; // {id, box}; id -1: a new rectangle
    this.answers = new Map(); // id -> {key, answer, isRounded}; of a pending region the answer is null; rounded ones are of a drag
    this.cursor = null; // [x, y]
    this.compared = []; // ids
    this.frame = undefined; // of a video, the number of the one that is shown
    this.followed = new Set(); // ids of regions with a tracker
    this.scores = new Map(); // id -> the tracker's distance on this frame
    this.distances = new Map(); // id -> {key, isRounded, values: {measure: distance}}
  }

  drag(id, box) {
    this.dragged = box && {id, box};
  }

  /** The region that the page is about, as it is dragged now; the whole picture has id 0. */
  current() {
    if (this.dragged?.id === -1) return {id: -1, name: '', box: this.dragged.box};
    return this.region(this.selected);
  }
  /** A region as it is dragged now; the whole picture for any other id. */
  region(id) {
    const region = this.regions.get(id);
    if (!region) return {id: 0, name: '', box: [0, 0, this.picture.width, this.picture.height]};
    return this.dragged?.id === region.id ? {...region, box: this.dragged.box} : region;
  }

  setRegions(list) {
    this.regions = new Map(list.map((region) => [region.id, region]));
    if (!this.regions.has(this.selected)) this.selected = 0;
    this.compared = this.compared.filter((id) => id === 0 || this.regions.has(id));
    for (const id of this.answers.keys()) if (id > 0 && !this.regions.has(id)) this.answers.delete(id);
  }

  key(box, frame = this.frame) {
    return `${this.channel}:${box}:${frame}`;
  }
  /** The answer about a region, perhaps an older one; `isNew` tells. */
  answer(id) {
    return this.answers.get(id)?.answer ?? null;
  }
  isNew(id, box) {
    const found = this.answers.get(id);
    return found?.key === this.key(box) && found.answer !== null && (!found.isRounded || this.dragged !== null);
  }
  /** An answer about the region, or about one whose edges are near, or the word that there is none yet. */
  isAsked(id, box) {
    const found = this.answers.get(id);
    return this.isNew(id, box) || (found?.key === this.key(box) && found.answer === null && (!found.isRounded || this.dragged !== null));
  }
  /** Is it about a region whose edges are near? */
  isRounded(id) {
    return this.answers.get(id)?.isRounded === true;
  }
  /** The survey has passed more rows: ask again about what was pending. */
  surveyed() {
    for (const [id, {answer}] of this.answers) if (answer === null) this.answers.delete(id);
  }

  /** The compared region to which the others have distances: the first without a choice. */
  get reference() {
    return this.compared.includes(this.chosen) ? this.chosen : (this.compared[0] ?? null);
  }
  set reference(id) {
    this.chosen = id;
  }
  /** What the distance of a compared region is about. */
  pair(id) {
    return `${this.key(this.region(id).box)} ${this.region(this.reference).box}`;
  }
  isCompared(id) {
    const found = this.distances.get(id);
    return found?.key === this.pair(id) && (!found.isRounded || this.dragged !== null);
  }
  isPending(id) {
    const found = this.answers.get(id);
    return found?.answer === null && found.key === this.key(this.region(id).box);
  }

  /** What to ask now: {regions: [[id, x, y, w, h]], reference: an id of these or null}, of `listed` regions, too. */
  questions(listed, most = 64) {
    const wanted = [];
    const add = (id, box, anyway = false) => {
      if (wanted.some(([other]) => other === id)) return;
      if (wanted.length < most && (anyway || !this.isAsked(id, box))) wanted.push([id, ...box]);
    };
    const current = this.current();
    add(current.id, current.box);
    if (this.cursor) add(-2, [...this.cursor, 1, 1]);
    const waits = this.compared.length > 0 && this.isPending(this.reference);
    const stale = waits ? [] : this.compared.filter((id) => !this.isCompared(id) && !this.isPending(id));
    if (stale.length) for (const id of [this.reference, ...stale]) add(id, this.region(id).box, true);
    for (const id of listed) if (this.regions.has(id)) add(id, this.region(id).box);
    return {regions: wanted, reference: stale.length ? this.reference : null};
  }
}
