/** A value that holds from a time on; the next version's start is its end. */
export interface Version<T> {
  readonly id: bigint;
  /** Milliseconds since 1970 UTC, microseconds in the fraction; -Infinity: from the beginning. */
  readonly effectiveFromMs: number;
  /** null withdraws the subject from that time on. */
  readonly value: T | null;
}

/** Ascending by their start; undefined where a subject has none. */
type Versions<T> = readonly Version<T>[] | undefined;

/** The version in force at a time, or undefined before the first. */
export function versionAt<T>(versions: Versions<T>, atMs: number): Version<T> | undefined {
  return versions?.findLast(({ effectiveFromMs }) => effectiveFromMs <= atMs);
}

/** The version that something names, whatever is in force now. */
export function versionById<T>(versions: Versions<T>, id: bigint | null): Version<T> | undefined {
  return id === null ? undefined : versions?.find((version) => version.id === id);
}

/** Whether the version that something names was in force at a time; naming none claims nothing. */
export function wasInForce<T>(versions: Versions<T>, named: bigint | null, atMs: number): boolean {
  return named === null || versionAt(versions, atMs)?.id === named;
}
