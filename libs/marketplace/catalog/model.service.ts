import { type DataSource, type EntityManager, MoreThan } from 'typeorm';
import type { Routing } from '#catalog/channel-order.js';
import type { ModelLimits } from '#catalog/catalog.js';
import { requireKnown } from '#catalog/known-names.js';
import { ApiError, invalidField } from '#platform/errors.js';
import type { Family, Unit } from '#pricing/price-book.js';
import { requireUnchanged } from '#platform/unchanged.js';
import type { DoneBy } from '../prices/proposal.service.js';
import type { CatalogChanges } from './catalog.changes.js';
import { Group } from './group.entity.js';
import type { GroupModels } from './group-models.js';
import { Model } from './model.entity.js';
import { requireServable } from './served-models.js';

export interface NewModel {
  readonly id: string;
  readonly ownedBy: string;
  readonly enabled: boolean;
  readonly limits: ModelLimits;
  readonly groups: readonly string[];
  /** Its own; an alias has those of its model. */
  readonly family?: Family | undefined;
  readonly unit?: Unit | undefined;
  readonly aliasOf?: string | undefined;
}

interface ModelSettings {
  readonly enabled?: boolean | undefined;
  readonly ownedBy?: string | undefined;
  readonly limits?: ModelLimits | undefined;
  readonly routing?: Routing | undefined;
}

export interface ModelChange extends ModelSettings {
  /** Refuses the change if one of them has changed since. */
  readonly was?: ModelSettings | undefined;
}

export interface ShownModel {
  readonly model: Model;
  readonly groups: readonly string[];
}

/** The units of each family. The data plane counts nothing else. */
const UNITS: Record<Family, readonly Unit[]> = {
  image: ['call', 'token'],
  video: ['second'],
  chat: ['token', 'call'],
  speech: ['call', 'token', 'second'],
  '3d': ['call'],
};

/** The default units of these families. */
const USUAL_UNITS: Partial<Record<Family, Unit>> = { image: 'call', video: 'second', '3d': 'call' };

/** The models of the catalog. A new one is not for sale before it has a price, which is proposed like any other. */
export class ModelService {
  constructor(
    private readonly source: DataSource,
    private readonly changes: CatalogChanges,
    private readonly groupModels: GroupModels,
  ) {}

  async list(query: { limit: number; after: string; family?: Family | undefined }): Promise<ShownModel[]> {
    const { limit, after, family } = query;
    const models = await this.source.manager.find(Model, {
      where: { id: MoreThan(after), ...(family ? { family } : {}) },
      order: { id: 'ASC' },
      take: limit,
    });
    return this.withGroups(models);
  }

  /** @throws ApiError `not_found` */
  async find(id: string): Promise<ShownModel> {
    const model = await this.source.manager.findOneBy(Model, { id });
    if (!model) throw notFound(id);
    return (await this.withGroups([model]))[0]!;
  }

  /** The groups that would sell it far below its list price wait for approval. @throws ApiError for contradictory fields */
  async create(wanted: NewModel, by: DoneBy): Promise<ShownModel & { approvalId: string | null }> {
    checkLimits(wanted.limits);
    return this.changes.make(by, async (transaction) => {
      const { entities } = transaction;
      const { family, unit } = await kindOf(wanted, (id) => entities.findOneBy(Model, { id }));
      const groups = new Set((await entities.find(Group)).map(({ name }) => name));
      requireKnown(wanted.groups, groups, { param: 'groups', what: 'group' });
      const { id, ownedBy, enabled, limits, aliasOf = null } = wanted;
      const row = { id, family, unit, ownedBy, aliasOf, enabled, limits };
      await entities.insert(Model, row);
      const subject = `model:${id}`;
      const sales = [...new Set(wanted.groups)].map((group) => ({ group, model: id }));
      const approvalId = await this.groupModels.enter(transaction, { sales, subject, param: 'groups', by });
      const shown = (await this.withGroups([(await entities.findOneBy(Model, { id }))!], entities))[0]!;
      const after = { ...row, groups: shown.groups };
      return { result: { ...shown, approvalId }, action: 'model.created', subject, after };
    });
  }

  /** @throws ApiError `not_found`, and `conflict` if another change came first */
  async change(id: string, wanted: ModelChange, by: DoneBy): Promise<ShownModel> {
    if (wanted.limits) checkLimits(wanted.limits);
    await this.changes.make(by, async ({ entities, client }) => {
      const model = await entities.findOneBy(Model, { id });
      if (!model) throw notFound(id);
      if (wanted.routing && model.aliasOf !== null) throw routedElsewhere(model.aliasOf);
      const before = changeable(model);
      requireUnchanged<ModelSettings>(before, wanted);
      const { enabled, ownedBy, routing } = wanted;
      entities.merge(Model, model, defined({ enabled, ownedBy, routing }));
      if (wanted.limits) model.limits = wanted.limits;
      await entities.save(model);
      await requireServable(client, { models: [id], param: 'ownedBy' });
      return {
        result: model,
        action: 'model.changed',
        subject: `model:${id}`,
        before,
        after: changeable(model),
      };
    });
    return this.find(id);
  }

  private async withGroups(
    models: readonly Model[],
    entities: EntityManager = this.source.manager,
  ): Promise<ShownModel[]> {
    const rows: { model: string; group: string }[] = await entities.query(
      `SELECT model_id AS model, group_name AS "group" FROM group_models WHERE model_id = ANY ($1) ORDER BY 2`,
      [models.map(({ id }) => id)],
    );
    return models.map((model) => ({
      model,
      groups: rows.filter((row) => row.model === model.id).map(({ group }) => group),
    }));
  }
}

function notFound(id: string): ApiError {
  return new ApiError('not_found', `There is no model ${id}.`);
}

function routedElsewhere(aliasOf: string): ApiError {
  return invalidField('routing', `an alias is routed as its model: change ${aliasOf}.`);
}

function changeable({ enabled, ownedBy, limits, routing }: Model) {
  return { enabled, ownedBy, limits, routing };
}

/** Only given fields. An absent field stays unchanged. */
export function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

async function kindOf(
  { family, unit, aliasOf }: NewModel,
  findModel: (id: string) => Promise<Model | null>,
): Promise<{ family: Family; unit: Unit }> {
  if (aliasOf === undefined) return ownKind(family, unit);
  const target = await findModel(aliasOf);
  const fault = !target
    ? `there is no model ${aliasOf}`
    : target.aliasOf !== null
      ? `${aliasOf} is an alias itself, of ${target.aliasOf}`
      : null;
  if (fault) throw invalidField('aliasOf', `${fault}.`);
  const isOther = (family ?? target!.family) !== target!.family || (unit ?? target!.unit) !== target!.unit;
  if (isOther) {
    throw new ApiError('invalid_value', `An alias takes the type and unit of its model: leave them out.`, {
      param: 'aliasOf',
    });
  }
  return { family: target!.family, unit: target!.unit };
}

function ownKind(family: Family | undefined, unit: Unit | undefined): { family: Family; unit: Unit } {
  if (family === undefined) throw required('family');
  const units = UNITS[family];
  const chosen = unit ?? USUAL_UNITS[family];
  if (chosen === undefined) throw required('unit');
  if (units.includes(chosen)) return { family, unit: chosen };
  const rule = `models of the family ${family} are priced by the ${units.join(' or the ')}`;
  throw invalidField('unit', `${rule}.`);
}

function required(param: string): ApiError {
  return new ApiError('missing_required_parameter', `${param} is required.`, { param });
}

function checkLimits({ minSeconds = 1, defaultSeconds, maxSeconds = Infinity }: ModelLimits): void {
  const middle = defaultSeconds ?? minSeconds;
  if (minSeconds <= middle && middle <= maxSeconds) return;
  throw invalidField('limits', 'minSeconds <= defaultSeconds <= maxSeconds must hold.');
}
