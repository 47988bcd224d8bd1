import { type DataSource, MoreThan } from 'typeorm';
import { requireModels } from '#catalog/known-names.js';
import { loadPriceBook, type Queryable } from '#catalog/catalog.store.js';
import { plainDecimal } from '#money/amount.js';
import type { Clock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';
import { type PriceBook } from '#pricing/price-book.js';
import { fixedPriceAt, multiplierAt } from '#groups/terms.js';
import { groupFault } from '../prices/price-change.js';
import { priceFaultText } from '../prices/price-fault.js';
import type { DoneBy } from '../prices/proposal.service.js';
import type { CatalogChanges } from './catalog.changes.js';
import { refuseCheapGroup } from './cheap-sales.js';
import { Group } from './group.entity.js';
import { addSales, groupNotFound, salesIn } from './group-models.js';
import { defined } from './model.service.js';

export interface GroupRules {
  readonly open?: boolean | undefined;
  readonly requestsPerMinute?: number | null | undefined;
  readonly tokensPerMinute?: number | null | undefined;
  readonly imagesPerMinute?: number | null | undefined;
  readonly maxRunningTasks?: number | null | undefined;
  readonly maxConcurrentRequests?: number | null | undefined;
}

export interface NewGroup extends GroupRules {
  readonly name: string;
  /** A decimal text. */
  readonly multiplier: string;
  /** The price of each call, if the group has a fixed one. */
  readonly fixedPerCall: string | null;
  readonly models: readonly string[];
}

export interface ShownGroup {
  readonly group: Group;
  readonly models: readonly string[];
  /** In force now; null: withdrawn. */
  readonly multiplier: string | null;
  readonly fixedPerCall: string | null;
}

/**
 * The groups of the catalog. A new one begins with a multiplier near the list price; cheaper ones, fixed prices and later
 * changes are proposed.
 */
export class GroupService {
  constructor(
    private readonly source: DataSource,
    private readonly changes: CatalogChanges,
    private readonly clock: Clock,
  ) {}

  async list(query: { limit: number; after: string }): Promise<ShownGroup[]> {
    const groups = await this.source.manager.find(Group, {
      where: { name: MoreThan(query.after) },
      order: { name: 'ASC' },
      take: query.limit,
    });
    const book = await this.priceBook();
    return groups.map((group) => shown(book, group, this.clock.nowMs()));
  }

  /** @throws ApiError `not_found` */
  async find(name: string): Promise<ShownGroup> {
    const group = await this.source.manager.findOneBy(Group, { name });
    if (!group) throw groupNotFound(name);
    return shown(await this.priceBook(), group, this.clock.nowMs());
  }

  /**
   * @throws ApiError for a name that is taken, unknown models, or a multiplier or price that no proposal could set;
   * second_person_required for a price that one person could not propose
   */
  async create(wanted: NewGroup, by: DoneBy): Promise<ShownGroup> {
    const { name, multiplier, fixedPerCall, models } = wanted;
    const fault = groupFault(wanted);
    if (fault)
      throw new ApiError('invalid_value', priceFaultText(fault), { param: String(fault.params.field) });
    await this.changes.make(by, async ({ entities, client }) => {
      await entities.insert(Group, { name, open: false, ...defined(rulesOf(wanted)) });
      await client.query('INSERT INTO multiplier_versions (group_name, multiplier) VALUES ($1, $2)', [
        name,
        multiplier,
      ]);
      if (fixedPerCall !== null) {
        await client.query(
          `INSERT INTO group_rule_versions (group_name, rule, unit_price) VALUES ($1, 'fixed_per_call', $2)`,
          [name, fixedPerCall],
        );
      }
      await requireModels(client, models);
      await addSales(client, salesIn(name, models), 'models');
      await refuseCheapGroup(client, wanted, by);
      return { result: null, action: 'group.created', subject: `group:${name}`, after: wanted };
    });
    return this.find(name);
  }

  /** @throws ApiError `not_found` */
  async change(name: string, wanted: GroupRules, by: DoneBy): Promise<ShownGroup> {
    await this.changes.make(by, async ({ entities }) => {
      const group = await entities.findOneBy(Group, { name });
      if (!group) throw groupNotFound(name);
      const before = rulesOf(group);
      Object.assign(group, defined(rulesOf(wanted)));
      await entities.save(group);
      return {
        result: null,
        action: 'group.changed',
        subject: `group:${name}`,
        before,
        after: rulesOf(group),
      };
    });
    return this.find(name);
  }

  private priceBook(): Promise<PriceBook> {
    return loadPriceBook({
      query: async (text, values) => ({
        rows: await this.source.query<Awaited<ReturnType<Queryable['query']>>['rows']>(text, values),
      }),
    });
  }
}

function rulesOf({ open, ...rest }: GroupRules) {
  const { requestsPerMinute, tokensPerMinute, imagesPerMinute, maxRunningTasks, maxConcurrentRequests } =
    rest;
  const perMinute = { requestsPerMinute, tokensPerMinute, imagesPerMinute };
  return { open, ...perMinute, maxRunningTasks, maxConcurrentRequests };
}

function shown(book: PriceBook, group: Group, nowMs: number): ShownGroup {
  const multiplier = multiplierAt(book, group.name, nowMs);
  const fixedPrice = fixedPriceAt(book, group.name, nowMs);
  return {
    group,
    models: [...(book.access.get(group.name) ?? [])].sort(),
    multiplier: multiplier && plainDecimal(multiplier),
    fixedPerCall: fixedPrice && plainDecimal(fixedPrice),
  };
}
