/** A value that applies from a time on, until the next version starts. */
export interface Version<T> {
  readonly id: bigint;
  /** Milliseconds since 1970 UTC, microseconds in the fraction; -Infinity: from the beginning. */
  readonly effectiveFromMs: number;
  /** null withdraws the subject from that time on. */
  readonly value: T | null;
}

/** Ascending by start; undefined if a subject has none. */
type Versions<T> = readonly Version<T>[] | undefined;

/** The version in force at a time, or undefined before the first. */
export function versionAt<T>(versions: Versions<T>, atMs: number): Version<T> | undefined {
  return versions?.findLast(({ effectiveFromMs }) => effectiveFromMs <= atMs);
}

/** The named version, whatever is in force now. */
export function versionById<T>(versions: Versions<T>, id: bigint | null): Version<T> | undefined {
  return id === null ? undefined : versions?.find((version) => version.id === id);
}

/** Whether the named version was in force at a time. True if none is named. */
export function wasInForce<T>(versions: Versions<T>, named: bigint | null, atMs: number): boolean {
  return named === null || versionAt(versions, atMs)?.id === named;
}
