import type { ConfigReader } from '#platform/config.js';

/** Durations of billing, milliseconds. */
export interface BillingConfig {
  /** How long past its end a charge may still be resolved by a message in flight, before the sweeps look at it. */
  readonly chargeGraceMs: number;
  /** Pause between rounds of the sweeps. */
  readonly sweepIntervalMs: number;
  /** The net under the waking of the outbox relay. */
  readonly outboxPollMs: number;
  /** How often the last use of keys is recorded. */
  readonly keyUseIntervalMs: number;
  /** How often the program reports how it is. */
  readonly reportMs: number;
}

/** Reads the durations; the caller finishes the reader. */
export function readBillingConfig(reader: ConfigReader): BillingConfig {
  return {
    chargeGraceMs: reader.seconds('CHARGE_GRACE_SECONDS', 30),
    sweepIntervalMs: reader.seconds('SWEEP_INTERVAL_SECONDS', 5),
    outboxPollMs: reader.seconds('OUTBOX_POLL_SECONDS', 0.25),
    keyUseIntervalMs: reader.seconds('KEY_USE_SECONDS', 60),
    reportMs: reader.seconds('REPORT_SECONDS', 5),
  };
}
