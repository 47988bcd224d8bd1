import { Controller } from '@nestjs/common';
import { viewWaiver } from '#finance/periods/periods.view.js';
import { WaiverService } from '#finance/periods/waiver.service.js';
import { Using } from '#platform/wiring.js';
import { type CallOf, Serves } from '../http/route.js';
import { periodRoutes as routes } from './periods.routes.js';

/** What two people leave for later when a period closes. */
@Controller()
export class WaiversController extends Using({ waivers: WaiverService }) {
  @Serves(routes.waivers)
  async listWaivers({ query }: CallOf<typeof routes.waivers>) {
    return { items: (await this.waivers.list(query.end)).map(viewWaiver) };
  }

  @Serves(routes.waive)
  async waive({ actor, body }: CallOf<typeof routes.waive>) {
    const { requestId, ...wanted } = body;
    const { id: approvalId, state } = await this.waivers.ask(wanted, { actor, requestId });
    return { approvalId, state };
  }
}
