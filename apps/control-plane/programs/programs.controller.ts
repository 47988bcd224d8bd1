import { Controller } from '@nestjs/common';
import { ApiError } from '#platform/errors.js';
import { ChannelTests } from '#operations/channel-tests.js';
import { ProgramReader } from '#operations/program.reader.js';
import { Using } from '#platform/wiring.js';
import { CONTROL_PLANE_CLOCK } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { programRoutes as routes } from './programs.routes.js';

@Controller()
export class ProgramsController extends Using({
  reader: ProgramReader,
  tests: ChannelTests,
  clock: CONTROL_PLANE_CLOCK,
}) {
  @Serves(routes.list)
  async list(_call: CallOf<typeof routes.list>) {
    return { ...(await this.reader.programs()), at: new Date(this.clock.nowMs()) };
  }

  @Serves(routes.channels)
  async channels(_call: CallOf<typeof routes.channels>) {
    return { items: await this.reader.channels(null) };
  }

  @Serves(routes.channel)
  async channel({ params }: CallOf<typeof routes.channel>) {
    const [found] = await this.reader.channels(params.channelId);
    if (!found) throw new ApiError('not_found', `There is no channel ${params.channelId}.`);
    return found;
  }

  @Serves(routes.test)
  async test({ actor, params, requestId }: CallOf<typeof routes.test>) {
    const by = { actor: `user:${actor.userId}`, requestId };
    const trials = await this.tests.run(params.channelId, by);
    return { ok: trials.every(({ verdict }) => verdict !== 'failed'), trials };
  }
}
