import { Loop } from '#platform/loop.js';
import { Gauge } from '#platform/metrics.js';
import { job } from '#platform/wiring.js';
import { openStorage } from '#storage/storage.config.js';
import { exportedThrough, exportNextHour } from '#usage/request-log/hour-export.js';
import { type Shared, SHARED } from '../control-plane.tokens.js';

/** Exports the log of requests, an hour in each round, where that is configured. */
function requestLogLoop({ pool, config: { requestLog }, log, registry }: Shared): Loop | null {
  if (!requestLog.storage) return null;
  const store = openStorage(requestLog.storage);
  const through = new Gauge({
    name: 'tollgate_request_log_through_timestamp_seconds',
    help: 'Time up to which requests are exported, Unix seconds. Before the first export, the start of the program.',
    registers: [registry],
  });
  through.setToCurrentTime();
  const show = async () => {
    const time = await exportedThrough(pool);
    if (time) through.set(time.getTime() / 1000);
  };
  const round = async (signal: AbortSignal) => {
    // Set before the attempt: a failing store must not look as if it had just worked.
    await show();
    const exported = await exportNextHour({ pool, store, signal });
    if (!exported) return false;
    log.info(exported, 'an hour of requests was exported');
    await show();
    return true;
  };
  return new Loop({ name: 'request-log', intervalMs: requestLog.intervalMs, log, round });
}

export const requestLogJob = job(requestLogLoop, SHARED);
