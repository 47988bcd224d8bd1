import { Controller } from '@nestjs/common';
import { readActivity } from '#privacy/activity.js';
import { pageFrom, readCursorId } from '#platform/http/page.js';
import { Using } from '#platform/wiring.js';
import { POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { activityRoutes as routes } from './activity.routes.js';

const LINE_ID = /^\d{1,18}$/;

/** The part of the audit log that belongs to a customer. */
@Controller()
export class ActivityController extends Using({ pool: POOL }) {
  @Serves(routes.list)
  async list({ actor, query }: CallOf<typeof routes.list>) {
    const before = readCursorId(query.cursor, LINE_ID);
    const lines = await readActivity(this.pool, actor.accountId, { limit: query.limit + 1, before });
    return pageFrom(lines, query.limit, ({ id }) => [String(id)]);
  }
}
