import { Controller } from '@nestjs/common';
import { hindranceOf } from '#marketplace/offer.js';
import { pageFrom } from '#platform/http/page.js';
import { type Market, MarketReader } from '#marketplace/price-list.js';
import { GroupModels } from '#marketplace/catalog/group-models.js';
import { GroupService, type ShownGroup } from '#marketplace/catalog/group.service.js';
import { ModelService, type ShownModel } from '#marketplace/catalog/model.service.js';
import { Using } from '#platform/wiring.js';
import { type AnswerOf, type CallOf, Serves } from '../http/route.js';
import { catalogRoutes as routes } from './catalog.routes.js';
import { after, doneBy } from './catalog.calls.js';

type ModelView = AnswerOf<typeof routes.getModel>;

@Controller()
export class CatalogController extends Using({
  models: ModelService,
  groups: GroupService,
  groupModels: GroupModels,
  market: MarketReader,
}) {
  @Serves(routes.listModels)
  async listModels({ query }: CallOf<typeof routes.listModels>) {
    const { limit, cursor, family } = query;
    const rows = await this.models.list({ limit: limit + 1, after: after(cursor), family });
    return pageFrom(await this.modelViews(rows), limit, ({ id }) => [id]);
  }

  @Serves(routes.createModel)
  async createModel(call: CallOf<typeof routes.createModel>) {
    const { approvalId, ...shown } = await this.models.create(call.body, doneBy(call));
    return { ...(await this.modelView(shown)), approvalId };
  }

  @Serves(routes.getModel)
  async getModel({ params }: CallOf<typeof routes.getModel>) {
    return this.modelView(await this.models.find(params.model));
  }

  @Serves(routes.changeModel)
  async changeModel(call: CallOf<typeof routes.changeModel>) {
    return this.modelView(await this.models.change(call.params.model, call.body, doneBy(call)));
  }

  @Serves(routes.listGroups)
  async listGroups({ query }: CallOf<typeof routes.listGroups>) {
    const { limit, cursor } = query;
    const rows = await this.groups.list({ limit: limit + 1, after: after(cursor) });
    return pageFrom(rows.map(groupView), limit, ({ name }) => [name]);
  }

  @Serves(routes.createGroup)
  async createGroup(call: CallOf<typeof routes.createGroup>) {
    return groupView(await this.groups.create(call.body, doneBy(call)));
  }

  @Serves(routes.getGroup)
  async getGroup({ params }: CallOf<typeof routes.getGroup>) {
    return groupView(await this.groups.find(params.group));
  }

  @Serves(routes.changeGroup)
  async changeGroup(call: CallOf<typeof routes.changeGroup>) {
    const { group } = call.params;
    const { approvalId, modelsApprovalId, ...shown } = await this.groups.change(
      group,
      call.body,
      doneBy(call),
    );
    return { ...groupView(shown), approvalId, modelsApprovalId };
  }

  @Serves(routes.setGroupModels)
  async setGroupModels(call: CallOf<typeof routes.setGroupModels>) {
    const { group } = call.params;
    const approvalId = await this.groupModels.set(group, call.body, doneBy(call));
    return { ...groupView(await this.groups.find(group)), approvalId };
  }

  private async modelView(shown: ShownModel): Promise<ModelView> {
    return modelView(shown, await this.market.read());
  }

  private async modelViews(shown: readonly ShownModel[]): Promise<ModelView[]> {
    const market = await this.market.read();
    return shown.map((each) => modelView(each, market));
  }
}

function modelView({ model, groups }: ShownModel, { catalog, nowMs }: Market): ModelView {
  const known = catalog.models.get(model.id);
  const sales = groups.map((group) => ({
    group,
    hindrance: known ? hindranceOf(catalog, { model: known, group, atMs: nowMs }) : null,
  }));
  return { ...model, groups: [...groups], sales };
}

function groupView({ group, models, ...prices }: ShownGroup) {
  return { ...group, ...prices, models: [...models] };
}
