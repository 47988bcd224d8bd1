import { networkOf } from '#identity/ip-list.js';
import type { Clock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';

/** The number of IP addresses remembered. The oldest is dropped first. */
const MAX_ADDRESSES = 20_000;
const WINDOW_MS = 60_000;

/**
 * Limits failed keys per IP address, so that guessing keys does not load the database. Counted in the memory of each gateway.
 * Recently valid keys still pass, otherwise one stranger behind an address could lock out the others.
 */
export class FailedKeys {
  private readonly windows = new Map<string, { endsAtMs: number; failures: number }>();

  constructor(
    private readonly clock: Clock,
    private readonly perMinute: number,
  ) {}

  /** @throws ApiError 429 */
  refuseBeyond(ip: string): void {
    const window = this.windows.get(networkOf(ip));
    const leftMs = (window?.endsAtMs ?? 0) - this.clock.elapsedMs();
    if (!window || leftMs <= 0 || window.failures < this.perMinute) return;
    const message = 'Too many invalid keys were sent from this address; try again later.';
    throw new ApiError('rate_limit_exceeded', message, { retryAfterSeconds: Math.ceil(leftMs / 1000) });
  }

  note(ip: string): void {
    const network = networkOf(ip);
    const nowMs = this.clock.elapsedMs();
    const window = this.windows.get(network);
    if (window && window.endsAtMs > nowMs) {
      window.failures += 1;
      return;
    }
    this.windows.delete(network);
    const oldest = this.windows.size >= MAX_ADDRESSES ? this.windows.keys().next().value : undefined;
    if (oldest !== undefined) this.windows.delete(oldest);
    this.windows.set(network, { endsAtMs: nowMs + WINDOW_MS, failures: 1 });
  }
}
