import { Controller } from '@nestjs/common';
import type pg from 'pg';
import type { Readable } from 'node:stream';
import { inTransaction } from '#database/database.js';
import type { Control } from '#finance/control.js';
import { controls } from '#finance/controls.js';
import {
  acknowledgeFinding,
  type FindingState,
  listFindings,
  readFindingDays,
  readStandings,
  type Finding,
  findingShape,
} from '#finance/findings.js';
import { inSnapshot } from '#finance/snapshot.js';
import { ApiError, invalidField } from '#platform/errors.js';
import { sendCsv, shaped, everyRow } from '#platform/http/csv.js';
import { pageFrom, readCursorNumber } from '#platform/http/page.js';
import { findingColumns, outcomeView } from '#finance/views/controls.view.js';
import { Using } from '#platform/wiring.js';
import { POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { controlRoutes as routes } from './controls.routes.js';
import { Reconciler } from './reconciler.job.js';

/** Four weeks, as the finance home shows them. */
const DAYS = 28;

/** The controls of the books: their state, findings and acknowledgements. */
@Controller()
export class ControlsController extends Using({ pool: POOL, reconciler: Reconciler }) {
  @Serves(routes.list)
  async list() {
    const ids = controls.map(({ id }) => id);
    const standings = await inSnapshot(this.pool, (client) => readStandings(client, ids));
    const items = standings.map(({ control, ...standing }) => {
      const { id, title, explanation, every = 'round' } = known(control);
      return {
        id,
        title,
        explanation,
        every,
        ...standing,
      };
    });
    return { items };
  }

  @Serves(routes.days)
  async days() {
    const { days, findings } = await readFindingDays(this.pool, DAYS);
    const none = days.map(() => 0n);
    return { days, items: controls.map(({ id }) => ({ id, findings: findings.get(id) ?? none })) };
  }

  @Serves(routes.run)
  async run({ body, actor }: CallOf<typeof routes.run>) {
    const asked = body.controls ?? null;
    const unknown = asked?.find((each) => controls.every(({ id }) => id !== each));
    if (unknown !== undefined) {
      throw invalidField('controls', `there is no control ${unknown}.`);
    }
    const run = await this.reconciler.runNow(asked, `user:${actor.userId}`);
    if (!run) throw new ApiError('conflict', 'The controls are running. Try again when they have finished.');
    return {
      runId: run.runId,
      horizon: run.horizon,
      controls: run.outcomes.map(outcomeView),
    };
  }

  @Serves(routes.findings)
  async findings({ params, query }: CallOf<typeof routes.findings>) {
    const { limit, cursor, state } = query;
    const found = await listFindings(this.pool, {
      control: known(params.controlId).id,
      state,
      limit: limit + 1,
      after: readCursorNumber(cursor),
    });
    return pageFrom(found, limit, ({ id }) => [id.toString()]);
  }

  @Serves(routes.findings.csv)
  findingsCsv({ params, query, database, reply }: CallOf<typeof routes.findings.csv>): Readable {
    const { id } = known(params.controlId);
    return sendCsv(
      reply,
      { fileName: `findings-${id}.csv`, columns: findingColumns },
      shaped(findingShape, everyFinding(database, id, query.state)),
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
    return inTransaction(this.pool, (client) => acknowledgeFinding(client, asked));
  }
}

function everyFinding(database: pg.Pool, control: string, state: FindingState) {
  return everyRow<Finding>((limit, last) =>
    listFindings(database, { control, state, limit, after: last && last.id }),
  );
}

/** @throws ApiError not_found */
function known(id: string): Control {
  const control = controls.find((each) => each.id === id);
  if (!control) throw new ApiError('not_found', 'There is no such control.');
  return control;
}
