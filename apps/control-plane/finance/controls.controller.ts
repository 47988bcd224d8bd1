import { Controller, Inject } from '@nestjs/common';
import type pg from 'pg';
import type { Readable } from 'node:stream';
import { inTransaction } from '#database/database.js';
import type { Control } from '#finance/control.js';
import { controls } from '#finance/controls.js';
import { acknowledgeFinding, type FindingState, listFindings, readStandings } from '#finance/findings.js';
import { inSnapshot } from '#finance/snapshot.js';
import { ApiError } from '#platform/errors.js';
import { sendCsv } from '#platform/http/csv.js';
import { pageFrom, readCursor } from '#platform/http/page.js';
import { findingColumns, type FindingView, findingView, outcomeView } from '#finance/views/controls.view.js';
import { timeOf } from '#finance/views/ledger.view.js';
import { POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { controlRoutes as routes } from './controls.routes.js';
import { Reconciler } from './reconciler.job.js';

/** Rows of a file that are read at once. */
const FILE_PAGE = 1_000;

/** The controls of the books: how they stand, what they found, and who looks at it. */
@Controller()
export class ControlsController {
  constructor(
    @Inject(POOL) private readonly pool: pg.Pool,
    @Inject(Reconciler) private readonly reconciler: Reconciler,
  ) {}

  @Serves(routes.list)
  async list() {
    const ids = controls.map(({ id }) => id);
    const standings = await inSnapshot(this.pool, (client) => readStandings(client, ids));
    const items = standings.map(({ control, lastRunAt, horizon, ...standing }) => {
      const { id, title, explanation, every = 'round' } = known(control);
      return {
        id,
        title,
        explanation,
        every,
        ...standing,
        count: standing.count === null ? null : Number(standing.count),
        lastRunAt: lastRunAt && timeOf(lastRunAt),
        horizon: horizon && timeOf(horizon),
        openFindings: Number(standing.openFindings),
        unacknowledged: Number(standing.unacknowledged),
      };
    });
    return { items };
  }

  @Serves(routes.run)
  async run({ body, actor }: CallOf<typeof routes.run>) {
    const asked = body.controls ?? null;
    const unknown = asked?.find((each) => controls.every(({ id }) => id !== each));
    if (unknown !== undefined) {
      const message = `controls: there is no control ${unknown}.`;
      throw new ApiError('invalid_value', message, { param: 'controls' });
    }
    const run = await this.reconciler.runNow(asked, `user:${actor.userId}`);
    if (!run)
      throw new ApiError('conflict', 'The controls run at this moment: ask again when they are done.');
    return {
      runId: run.runId.toString(),
      horizon: timeOf(run.horizon),
      controls: run.outcomes.map(outcomeView),
    };
  }

  @Serves(routes.findings)
  async findings({ params, query }: CallOf<typeof routes.findings>) {
    const { limit, cursor, state } = query;
    const after = readCursor(cursor, 1, /^\d{1,18}$/)?.[0];
    const found = await listFindings(this.pool, {
      control: known(params.controlId).id,
      state,
      limit: limit + 1,
      after: after === undefined ? null : BigInt(after),
    });
    return pageFrom(found.map(findingView), limit, ({ id }) => [id]);
  }

  @Serves(routes.findingsCsv)
  findingsCsv({ params, query, reply }: CallOf<typeof routes.findingsCsv>): Readable {
    const { id } = known(params.controlId);
    return sendCsv(
      reply,
      { fileName: `findings-${id}.csv`, columns: findingColumns },
      this.everyFinding(id, query.state),
    );
  }

  @Serves(routes.acknowledge)
  async acknowledge({ params, body, actor, requestId }: CallOf<typeof routes.acknowledge>) {
    const asked = {
      control: params.controlId,
      findingId: BigInt(params.findingId),
      userId: actor.userId,
      note: body.note || null,
      requestId,
    };
    return findingView(await inTransaction(this.pool, (client) => acknowledgeFinding(client, asked)));
  }

  private async *everyFinding(control: string, state: FindingState): AsyncGenerator<FindingView> {
    for (let after: bigint | null = null; ;) {
      const page = await listFindings(this.pool, { control, state, limit: FILE_PAGE, after });
      for (const finding of page) yield findingView(finding);
      after = page.at(-1)?.id ?? null;
      if (page.length < FILE_PAGE) return;
    }
  }
}

/** @throws ApiError not_found */
function known(id: string): Control {
  const control = controls.find((each) => each.id === id);
  if (!control) throw new ApiError('not_found', 'There is no such control.');
  return control;
}
