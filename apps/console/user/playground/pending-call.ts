import type { PlayKind, PlayValues } from './call.js';

/** A call that waits for a top-up. Files cannot be kept across pages. */
export interface PendingCall {
  orderId: string;
  kind: PlayKind;
  model: string;
  values: Omit<PlayValues, 'image'>;
  /** The shown price; at another price people are asked again. */
  amount: string;
}

interface StoredCall extends PendingCall {
  userId: string;
  /** Milliseconds since 1970. */
  savedAt: number;
}

const KEY = 'tollgate.pending-call';
/** After this, nobody expects the call any more. */
const LIFE_MS = 3_600_000;

/** Keeps the call in this tab while its person pays. */
export function savePendingCall(call: PendingCall, userId: string): void {
  const stored: StoredCall = { ...call, userId, savedAt: Date.now() };
  sessionStorage.setItem(KEY, JSON.stringify(stored));
}

/** The person's call that waits for this order. */
export function pendingCallOf(orderId: string, userId: string | undefined): PendingCall | null {
  const call = read(userId);
  return call?.orderId === orderId ? call : null;
}

/** Takes the waiting call, so that it is made at most once. */
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
  // Never show what another person typed in this tab.
  sessionStorage.removeItem(KEY);
  return null;
}
