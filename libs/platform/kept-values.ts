/**
 * Values by key, for as many keys as there is room for. A key that is asked for again makes room among its like only, so
 * that somebody who makes up keys pushes out what was asked for once, and what people share only by asking twice for each.
 */
export class KeptValues<T extends object> {
  private readonly askedOnce = new Map<string, T>();
  private readonly askedAgain = new Map<string, T>();

  /** @param room of each of the two kinds of keys */
  constructor(private readonly room: number) {}

  get(key: string): T | undefined {
    const value = this.askedAgain.get(key) ?? this.askedOnce.get(key);
    if (value === undefined) return undefined;
    this.askedOnce.delete(key);
    this.put(this.askedAgain, key, value);
    return value;
  }

  set(key: string, value: T): void {
    this.put(this.askedAgain.has(key) ? this.askedAgain : this.askedOnce, key, value);
  }

  /** At the end of its kind: the first is the one that nobody has asked for longest. */
  private put(kind: Map<string, T>, key: string, value: T): void {
    kind.delete(key);
    kind.set(key, value);
    if (kind.size > this.room) kind.delete(kind.keys().next().value as string);
  }
}
