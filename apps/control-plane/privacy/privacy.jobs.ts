import { Loop } from '#platform/loop.js';
import { Counter, Gauge } from '#platform/metrics.js';
import { job } from '#platform/wiring.js';
import { DataExports } from '#privacy/data-export.js';
import { DeletionRunner } from '#privacy/deletion-runner.js';
import { retentionClasses, sweepRetention } from '#privacy/retention.js';
import { type Shared, SHARED } from '../control-plane.tokens.js';

export const privacyJobs = [
  job(deletionsLoop, SHARED),
  job(retentionLoop, SHARED),
  job(exportsLoop, { ...SHARED, exports: DataExports }),
];

function deletionsLoop({ pool, config: { privacy }, log, relay }: Shared): Loop {
  const { videos, images } = privacy.retention;
  const fileLifeMs = Math.max(videos, images);
  const runner = new DeletionRunner({ pool, fileLifeMs, retryMs: privacy.deletionRetryMs });
  const round = async () => {
    const more = await runner.round();
    if (more) relay.wake();
    return more;
  };
  return new Loop({ name: 'deletions', intervalMs: privacy.pollMs, log, round });
}

function exportsLoop({ exports, config, log }: Shared & { exports: DataExports }): Loop {
  const intervalMs = config.privacy.pollMs;
  return new Loop({ name: 'exports', intervalMs, log, round: (signal) => exports.round(signal) });
}

/** Removes expired data, class by class, one batch of each per round. */
function retentionLoop({ pool, config: { privacy }, log, registry }: Shared): Loop {
  const labelled = { labelNames: ['class'] as const, registers: [registry] };
  const removed = new Counter({
    name: 'tollgate_retention_removed_total',
    help: 'Rows and files removed by retention, by class.',
    ...labelled,
  });
  const lastRun = new Gauge({
    name: 'tollgate_retention_last_run_timestamp_seconds',
    help: 'When a class was last swept, Unix seconds.',
    ...labelled,
  });
  const round = async (signal: AbortSignal) => {
    let more = false;
    for (const name of retentionClasses) {
      if (signal.aborted) return false;
      const swept = await sweepRetention(pool, name, privacy.retention[name]);
      removed.inc({ class: name }, swept.removed);
      lastRun.set({ class: name }, Date.now() / 1000);
      more ||= swept.more;
    }
    return more;
  };
  return new Loop({ name: 'retention', intervalMs: privacy.retentionIntervalMs, log, round });
}
