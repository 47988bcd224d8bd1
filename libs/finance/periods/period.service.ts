import type pg from 'pg';
import { setTimeout as pause } from 'node:timers/promises';
import { audit } from '#identity/audit-log.js';
import { inTransaction } from '#database/database.js';
import { ApiError } from '#platform/errors.js';
import type { Logger } from '#platform/logging.js';
import type { ReconcileConfig } from '../reconcile.config.js';
import { catchUp } from './catch-up.js';
import { findPeriod, findPeriodOfRequest, type Period } from './period.js';
import { type CloseRequest } from './close-attempt.js';
import { type CheckedPeriod, checkPeriod } from './period-check.js';
import { closePeriod, CloseRefused } from './period-close.js';
import type { PeriodsConfig } from './periods.config.js';

export interface PeriodServiceParts {
  pool: pg.Pool;
  log: Logger;
  config: PeriodsConfig;
  /** For the controls that the checklist runs. */
  reconcile: Pick<ReconcileConfig, 'limitMs'>;
}

/** Closes periods for finance staff, one at a time. A close continues after its answer. */
export class PeriodService {
  private readonly stopping = new AbortController();
  private readonly running = new Set<Promise<unknown>>();

  constructor(private readonly parts: PeriodServiceParts) {}

  check(end: Date): Promise<CheckedPeriod> {
    const { pool, reconcile } = this.parts;
    return checkPeriod(pool, { end, limitMs: reconcile.limitMs });
  }

  /**
   * Returns the period when its close has ended or, if that takes longer, in its current state.
   * @throws ApiError if it cannot begin
   */
  async close(request: CloseRequest, auditId: string): Promise<Period> {
    const ended = this.run(request, auditId);
    this.running.add(ended);
    // By the time it fails, nobody may be waiting for it, so it is logged.
    void ended.catch(() => undefined).finally(() => this.running.delete(ended));
    const late = pause(this.parts.config.answerMs, null, { ref: false });
    const period = await Promise.race([ended, late]);
    return period ?? (await this.soFar(request, ended));
  }

  /** Gives up the running close. The books are then open again. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.allSettled(this.running);
  }

  private async run(request: CloseRequest, auditId: string): Promise<Period> {
    const { pool, log, config, reconcile } = this.parts;
    const { signal } = this.stopping;
    try {
      const before = await findPeriodOfRequest(pool, request);
      const period = await closePeriod(pool, request, {
        marginMs: config.marginMs,
        waitMs: config.waitMs,
        signal,
        limitMs: reconcile.limitMs,
        catchUp: () => catchUp(pool, { log, signal }),
      });
      if (before?.endedAt) return period;
      await auditClose(pool, period, auditId);
      const { id, state, endsAt, abandonedReason } = period;
      log.info({ period: id.toString(), state, endsAt, abandonedReason }, 'a close of the books has ended');
      return period;
    } catch (error) {
      if (error instanceof CloseRefused) throw inApiWords(error);
      log.error({ err: error, end: request.end }, 'a close of the books failed');
      throw error;
    }
  }

  /** While the books are still being brought up to the end, there is no row yet. */
  private async soFar(request: CloseRequest, ended: Promise<Period>): Promise<Period> {
    const found = await findPeriodOfRequest(this.parts.pool, request);
    return found ?? ended;
  }

  find(periodId: bigint): Promise<Period | null> {
    return findPeriod(this.parts.pool, periodId);
  }
}

export function auditClose(pool: pg.Pool, period: Period, requestId: string | null): Promise<void> {
  const { id, state, endsAt, abandonedReason, waivers, closedBy, balancesHash, graceMs } = period;
  return inTransaction(pool, (client) =>
    audit(client, {
      actor: closedBy,
      action: state === 'closed' ? 'period.closed' : 'period.abandoned',
      subject: `period:${id}`,
      after: { endsAt: endsAt.toISOString(), abandonedReason, waivers, balancesHash, graceMs },
      requestId,
    }),
  );
}

const PARAMS = {
  running: null,
  too_young: 'end',
  closed_already: 'end',
  other_request: 'requestId',
} as const;

function inApiWords({ code, message }: CloseRefused): ApiError {
  const param = PARAMS[code];
  const isConflict = code === 'running' || code === 'other_request' || code === 'closed_already';
  return new ApiError(
    isConflict ? 'conflict' : 'invalid_value',
    param === 'end' ? `end: ${message}` : message,
    {
      param,
    },
  );
}
