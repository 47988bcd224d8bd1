import { Controller } from '@nestjs/common';
import { readRetention, retentionClasses, retentionRules } from '#privacy/retention.js';
import { Using } from '#platform/wiring.js';
import { CONTROL_PLANE_CONFIG, POOL } from '../control-plane.tokens.js';
import { Serves } from '../http/route.js';
import { retentionRoutes as routes } from './retention.routes.js';

@Controller()
export class RetentionController extends Using({ pool: POOL, config: CONTROL_PLANE_CONFIG }) {
  @Serves(routes.show)
  show() {
    return { items: retentionClasses.map((name) => ({ class: name, keptSeconds: this.keptSeconds(name) })) };
  }

  @Serves(routes.runs)
  async runs() {
    const runs = new Map((await readRetention(this.pool)).map((run) => [run.class, run]));
    return {
      items: retentionClasses.map((name) => {
        const { lastRunAt = null, removedTotal = '0' } = runs.get(name) ?? {};
        return {
          class: name,
          variable: retentionRules[name].variable,
          keptSeconds: this.keptSeconds(name),
          lastRunAt,
          removedTotal,
        };
      }),
    };
  }

  private keptSeconds(name: (typeof retentionClasses)[number]): number {
    return this.config.privacy.retention[name] / 1000;
  }
}
