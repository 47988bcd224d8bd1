import { parseChaos } from '#bus/chaos.js';
import type { ConfigReader } from '#platform/config.js';

/** How billing runs; durations in milliseconds. */
export interface BillingConfig {
  /** How long after its deadline a message in flight may still resolve a charge, before the sweeps look at it. */
  readonly chargeGraceMs: number;
  /** Pause between rounds of the sweeps. */
  readonly sweepIntervalMs: number;
  /** Whether to publish `charge.settled`, which none of our programs reads. */
  readonly publishesSettlements: boolean;
  /** Pause between polls of the outbox, in case a wake-up was missed. */
  readonly outboxPollMs: number;
  /** How often the last use of keys is recorded. */
  readonly keyUseIntervalMs: number;
  /** How often the program reports its state. */
  readonly reportMs: number;
}

/** The program's own configuration. */
export function readBillingProgram(reader: ConfigReader) {
  return { config: readBillingConfig(reader), chaos: parseChaos(reader.get('BUS_CHAOS')) };
}

/** Reads the durations; the caller finishes the reader. */
export function readBillingConfig(reader: ConfigReader): BillingConfig {
  return {
    chargeGraceMs: reader.get('CHARGE_GRACE_SECONDS'),
    sweepIntervalMs: reader.get('SWEEP_INTERVAL_SECONDS'),
    publishesSettlements: reader.get('PUBLISH_SETTLEMENTS'),
    outboxPollMs: reader.get('OUTBOX_POLL_SECONDS'),
    keyUseIntervalMs: reader.get('KEY_USE_SECONDS'),
    reportMs: reader.get('REPORT_SECONDS'),
  };
}
