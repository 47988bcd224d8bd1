/** A set of small whole numbers, with one bit each. */
export class IdSet {
  private bits = new Uint8Array(4_096);

  add(id: number): void {
    if (!isSmall(id)) return;
    if (id >>> 3 >= this.bits.length) {
      const larger = new Uint8Array(Math.max(this.bits.length * 2, (id >>> 3) + 1));
      larger.set(this.bits);
      this.bits = larger;
    }
    this.bits[id >>> 3] = (this.bits[id >>> 3] ?? 0) | (1 << (id & 7));
  }

  has(id: number): boolean {
    return isSmall(id) && ((this.bits[id >>> 3] ?? 0) & (1 << (id & 7))) !== 0;
  }
}

/** IDs of ledger accounts start at 1. The database did not assign a larger one. */
function isSmall(id: number): boolean {
  return Number.isInteger(id) && id >= 0 && id < 2 ** 30;
}
