/** Random numbers from a seed (mulberry32). The same seed always gives the same numbers. */
export class Dice {
  constructor(private state: number) {}

  /** At least 0, and below 1. */
  chance(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number {
    return least + Math.floor(this.chance() * (most - least + 1));
  }

  /** True in this many out of a hundred cases. */
  percent(count: number): boolean {
    return this.chance() * 100 < count;
  }

  one<T>(items: readonly T[]): T {
    return items[this.between(0, items.length - 1)] as T;
  }

  /** Prefers the first items, since some customers do a lot and most do little. */
  favourite<T>(items: readonly T[]): T {
    return items[Math.floor(this.chance() ** 3 * items.length)] as T;
  }

  shuffled<T>(items: readonly T[]): T[] {
    const pile = [...items];
    for (let end = pile.length - 1; end > 0; end -= 1) {
      const other = this.between(0, end);
      [pile[end], pile[other]] = [pile[other] as T, pile[end] as T];
    }
    return pile;
  }
}
