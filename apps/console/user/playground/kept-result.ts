import type { PlayKind } from './call.js';
import type { Played } from './play.js';

/** Tasks are in the address. */
type KeptResult = Exclude<Played, { kind: 'task' }>;

interface Stored {
  userId: string;
  prompt: string;
  result: KeptResult;
}

/** Keeps the result in this tab across reloads, unless it is too large for the browser. */
export function keepResult(kind: PlayKind, { userId, prompt, result }: Stored): void {
  try {
    sessionStorage.setItem(nameOf(kind), JSON.stringify({ userId, prompt, result } satisfies Stored));
  } catch {
    forgetResult(kind);
  }
}

export function forgetResult(kind: PlayKind): void {
  sessionStorage.removeItem(nameOf(kind));
}

/** The person's last result in this tab. */
export function keptResult(kind: PlayKind, userId: string | undefined): Stored | null {
  const text = sessionStorage.getItem(nameOf(kind));
  if (text === null) return null;
  const stored = JSON.parse(text) as Stored;
  if (stored.userId === userId) return stored;
  forgetResult(kind);
  return null;
}

function nameOf(kind: PlayKind): string {
  return `tollgate.played.${kind}`;
}
