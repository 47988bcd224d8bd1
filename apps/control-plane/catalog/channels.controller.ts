import { Controller } from '@nestjs/common';
import { ModelRoutes } from '#operations/model-route.js';
import { pageFrom } from '#platform/http/page.js';
import {
  ChannelService,
  type ChannelWithApproval,
  type ShownChannel,
} from '#marketplace/catalog/channel.service.js';
import { Using } from '#platform/wiring.js';
import { type CallOf, Serves } from '../http/route.js';
import { catalogRoutes as routes } from './catalog.routes.js';
import { after, doneBy } from './catalog.calls.js';

/** The channels to upstreams, and which of them a model's calls try. */
@Controller()
export class ChannelsController extends Using({ channels: ChannelService, modelRoutes: ModelRoutes }) {
  @Serves(routes.getModelRoute)
  getModelRoute({ params }: CallOf<typeof routes.getModelRoute>) {
    return this.modelRoutes.find(params.model);
  }

  @Serves(routes.listChannels)
  async listChannels({ query }: CallOf<typeof routes.listChannels>) {
    const { limit, cursor } = query;
    const rows = await this.channels.list({ limit: limit + 1, after: after(cursor) });
    return pageFrom(rows.map(channelView), limit, ({ id }) => [id]);
  }

  @Serves(routes.createChannel)
  async createChannel(call: CallOf<typeof routes.createChannel>) {
    return changedView(await this.channels.create(call.body, doneBy(call)));
  }

  @Serves(routes.getChannel)
  async getChannel({ params }: CallOf<typeof routes.getChannel>) {
    return channelView(await this.channels.find(params.channelId));
  }

  @Serves(routes.changeChannel)
  async changeChannel(call: CallOf<typeof routes.changeChannel>) {
    return changedView(await this.channels.change(call.params.channelId, call.body, doneBy(call)));
  }
}

function channelView({ keyMarks, models, groups, ...channel }: ShownChannel) {
  return { ...channel, keyMarks: [...keyMarks], models: { ...models }, groups: [...groups] };
}

function changedView({ approvalId, ...channel }: ChannelWithApproval) {
  return { ...channelView(channel), approvalId };
}
