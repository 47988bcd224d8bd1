import type { PlayKind, PlayValues } from './call.js';

/** A call that waits for a top-up. It has no file: files do not outlive a page. */
export interface PendingCall {
  orderId: string;
  kind: PlayKind;
  model: string;
  values: Omit<PlayValues, 'image'>;
  /** The price that was seen, in credits: a call at another price is asked about again. */
  amount: string;
}

interface StoredCall extends PendingCall {
  userId: string;
  /** Milliseconds since 1970. */
  savedAt: number;
}

const KEY = 'tollgate.pending-call';
/** Nobody expects a call that they asked for longer ago. */
const LIFE_MS = 3_600_000;

/** Remembers a call in this tab while its person is at the payment provider. */
export function savePendingCall(call: PendingCall, userId: string): void {
  const stored: StoredCall = { ...call, userId, savedAt: Date.now() };
  sessionStorage.setItem(KEY, JSON.stringify(stored));
}

/** The call that waits for this order, of this person. */
export function pendingCallOf(orderId: string, userId: string | undefined): PendingCall | null {
  const call = read(userId);
  return call?.orderId === orderId ? call : null;
}

/** Takes the waiting call: it is there once, whatever becomes of it. */
export function takePendingCall(kind: PlayKind, userId: string | undefined): PendingCall | null {
  const call = read(userId);
  if (call?.kind !== kind) return null;
  sessionStorage.removeItem(KEY);
  return call;
}

function read(userId: string | undefined): StoredCall | null {
  const text = sessionStorage.getItem(KEY);
  if (text === null || userId === undefined) return null;
  const call = JSON.parse(text) as StoredCall;
  if (call.userId === userId && Date.now() - call.savedAt < LIFE_MS) return call;
  // What somebody else typed in this tab is not kept for whoever comes next.
  sessionStorage.removeItem(KEY);
  return null;
}
