import { parseChaos } from '#bus/chaos.js';
import type { ConfigReader } from '#platform/config.js';

export function readBillingProgram(reader: ConfigReader) {
  return { config: readBillingConfig(reader), chaos: parseChaos(reader.get('BUS_CHAOS')) };
}

/** Reads the durations; the caller finishes the reader. */
export function readBillingConfig(reader: ConfigReader) {
  return {
    /** How long after its deadline a message in flight may still resolve a charge, before the sweeps look at it. */
    chargeGraceMs: reader.get('CHARGE_GRACE_SECONDS'),
    sweepIntervalMs: reader.get('SWEEP_INTERVAL_SECONDS'),
    /** Whether to publish `charge.settled`, which none of our programs reads. */
    publishesSettlements: reader.get('PUBLISH_SETTLEMENTS'),
    /** Pause between polls of the outbox, in case a wake-up was missed. */
    outboxPollMs: reader.get('OUTBOX_POLL_SECONDS'),
    keyUseIntervalMs: reader.get('KEY_USE_SECONDS'),
    reportMs: reader.get('REPORT_SECONDS'),
  };
}

/** How billing runs; durations in milliseconds. */
export type BillingConfig = Readonly<ReturnType<typeof readBillingConfig>>;
