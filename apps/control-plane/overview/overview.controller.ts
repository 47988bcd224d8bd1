import { Controller } from '@nestjs/common';
import { usageView } from '#usage/usage.view.js';
import { readOverview, type UsageSums } from '#usage/overview.reader.js';
import { Using } from '#platform/wiring.js';
import { CONTROL_PLANE_CLOCK, POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { viewTask } from '../tasks/task.view.js';
import { overviewRoutes as routes } from './overview.routes.js';

@Controller()
export class OverviewController extends Using({ pool: POOL, clock: CONTROL_PLANE_CLOCK }) {
  @Serves(routes.show)
  async show({ actor, query: { zone } }: CallOf<typeof routes.show>) {
    const { balance, days, runningTasks, running, lastRequests } = await readOverview(
      this.pool,
      actor.accountId,
      zone,
    );
    const nowMs = this.clock.nowMs();
    return {
      balance,
      frozen: balance.frozen,
      zone,
      today: days.at(-1)!,
      days,
      total: days.reduce(add, { spent: 0n, requests: 0, failures: 0, givenBack: 0n }),
      runningTasks,
      running: running.map((task) => viewTask(task, nowMs)),
      lastRequests: lastRequests.map((entry) => usageView(entry, false)),
      at: new Date(nowMs),
    };
  }
}

function add(a: UsageSums, b: UsageSums): UsageSums {
  return {
    spent: a.spent + b.spent,
    requests: a.requests + b.requests,
    failures: a.failures + b.failures,
    givenBack: a.givenBack + b.givenBack,
  };
}
