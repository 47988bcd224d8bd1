import { createPublicKey, type KeyObject } from 'node:crypto';
import { type Clock, systemClock } from '#platform/clock.js';
import { asObject, readObject } from '../answers.js';
import type { UpstreamConnections } from '../connections.js';
import { httpCall } from '../http-call.js';

/** The most that vendors recommend. */
const LIFE_MS = 24 * 3_600_000;
/** A signature that matches no key is forged or made with a new key. Forgeries cause at most one fetch per this time. */
const PAUSE_MS = 60_000;
const ANSWER_MS = 5_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_KEYS = 20;

interface Known {
  /** When they were last requested. */
  askedAtMs: number;
  keys: Promise<KeySet>;
}

interface KeySet {
  fetchedAtMs: number;
  keys: readonly KeyObject[];
}

const NONE: KeySet = { fetchedAtMs: -Infinity, keys: [] };

/** The Ed25519 keys that vendors publish as a JSON Web Key Set: requested when needed, and kept for a day. */
export class PublishedKeys {
  private readonly known = new Map<string, Known>();

  constructor(
    private readonly connections: Pick<UpstreamConnections, 'api'>,
    private readonly clock: Clock = systemClock,
  ) {}

  /** Whether a check passes with one of the keys at an address. If not, the keys are sometimes requested again. */
  async some(address: string, passes: (key: KeyObject) => boolean): Promise<boolean> {
    const nowMs = this.clock.elapsedMs();
    const known = this.known.get(address);
    const last = (await known?.keys) ?? NONE;
    const kept = nowMs - last.fetchedAtMs < LIFE_MS ? last : NONE;
    if (kept.keys.some(passes)) return true;
    const latest = this.known.get(address);
    if (latest && nowMs - latest.askedAtMs < PAUSE_MS)
      return latest !== known && (await latest.keys).keys.some(passes);
    const asked = this.ask(address).then((keys) => (keys ? { fetchedAtMs: nowMs, keys } : kept));
    this.known.set(address, { askedAtMs: nowMs, keys: asked });
    return (await asked).keys.some(passes);
  }

  /** Null if the vendor does not answer with keys. */
  private async ask(address: string): Promise<KeyObject[] | null> {
    const answer = await httpCall(this.connections.api, {
      method: 'GET',
      url: new URL(address),
      headers: { accept: 'application/json' },
      timeoutMs: ANSWER_MS,
      maxBytes: MAX_ANSWER_BYTES,
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const set = answer.kind === 'answer' && answer.status === 200 ? readObject(answer.body) : null;
    const list: unknown = set?.['keys'];
    return Array.isArray(list) ? list.slice(0, MAX_KEYS).flatMap(readKey) : null;
  }
}

function readKey(jwk: unknown): KeyObject[] {
  const { kty, crv, x } = asObject(jwk) ?? {};
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string') return [];
  try {
    return [createPublicKey({ key: { kty, crv, x }, format: 'jwk' })];
  } catch {
    return [];
  }
}
