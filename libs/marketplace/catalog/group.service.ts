import type pg from 'pg';
import { type DataSource, MoreThan } from 'typeorm';
import { requireModels } from '#catalog/known-names.js';
import { databaseNowMs } from '#database/database.js';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { plainDecimal } from '#money/amount.js';
import { ApiError } from '#platform/errors.js';
import { type PriceBook } from '#pricing/price-book.js';
import { fixedPriceAt, multiplierAt } from '#groups/terms.js';
import { requireUnchanged } from '#platform/unchanged.js';
import { groupFault } from '../prices/price-change.js';
import { priceFaultText } from '../prices/price-fault.js';
import type { DoneBy } from '../prices/proposal.service.js';
import { type CatalogChanges, changeCatalog } from './catalog.changes.js';
import { refuseCheapGroup } from './cheap-sales.js';
import { Group } from './group.entity.js';
import { addSales, type GroupModels, groupNotFound, salesIn } from './group-models.js';
import type { GroupOpening } from './group-opening.js';
import { defined } from './model.service.js';

export interface GroupRules {
  readonly open?: boolean | undefined;
  readonly requestsPerMinute?: number | null | undefined;
  readonly tokensPerMinute?: number | null | undefined;
  readonly imagesPerMinute?: number | null | undefined;
  readonly maxRunningTasks?: number | null | undefined;
  readonly maxConcurrentRequests?: number | null | undefined;
}

interface GroupFields extends GroupRules {
  readonly models?: readonly string[] | undefined;
}

interface GroupEdit extends GroupFields {
  /** As their author read them. */
  readonly was?: GroupFields | undefined;
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

interface PricesNow {
  readonly book: PriceBook;
  readonly nowMs: number;
}

export interface GroupServiceParts {
  readonly source: DataSource;
  readonly pool: pg.Pool;
  readonly changes: CatalogChanges;
  readonly opening: GroupOpening;
  readonly models: GroupModels;
}

/** What a change waits for; null: nothing. */
interface Waiting {
  readonly approvalId: string | null;
  readonly modelsApprovalId: string | null;
}

/**
 * The groups of the catalog. A new one begins with a multiplier near the list price; cheaper ones, fixed prices and later
 * changes are proposed.
 */
export class GroupService {
  constructor(private readonly parts: GroupServiceParts) {}

  async list(query: { limit: number; after: string }): Promise<ShownGroup[]> {
    const groups = await this.parts.source.manager.find(Group, {
      where: { name: MoreThan(query.after) },
      order: { name: 'ASC' },
      take: query.limit,
    });
    const prices = await this.prices();
    return groups.map((group) => shown(prices, group));
  }

  /** @throws ApiError `not_found` */
  async find(name: string): Promise<ShownGroup> {
    const group = await this.parts.source.manager.findOneBy(Group, { name });
    if (!group) throw groupNotFound(name);
    return shown(await this.prices(), group);
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
    await this.parts.changes.make(by, async ({ entities, client }) => {
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

  /**
   * A cheap group stays closed until a second administrator approves its opening. Cheap models wait for one, too.
   * @returns the group and the approvals that its opening and its models wait for
   * @throws ApiError `not_found`, or `conflict` if it is no longer as it was
   */
  async change(
    name: string,
    { models, was = {}, ...wanted }: GroupEdit,
    by: DoneBy,
  ): Promise<ShownGroup & Waiting> {
    const { changes, opening, models: groupModels } = this.parts;
    const waiting = await changes.make(by, async (transaction) => {
      const { entities, client } = transaction;
      const group = await entities.findOneBy(Group, { name });
      if (!group) throw groupNotFound(name);
      const before = rulesOf(group);
      requireUnchanged<GroupRules>(before, { ...wanted, was: rulesOf(was) });
      const setModels = (all: readonly string[]) =>
        changeCatalog(client, by, () =>
          groupModels.change(transaction, { group: name, models: all, was, by }),
        );
      const modelsApprovalId = models === undefined ? null : await setModels(models);
      const opens = wanted.open === true && !group.open;
      const approvalId = opens ? await opening.ask(transaction, name, by) : null;
      Object.assign(group, defined(rulesOf(wanted)), approvalId !== null && { open: false });
      await entities.save(group);
      const result = { approvalId, modelsApprovalId };
      return { result, action: 'group.changed', subject: `group:${name}`, before, after: rulesOf(group) };
    });
    return { ...(await this.find(name)), ...waiting };
  }

  /** At the database's time, which prices calls. */
  private async prices(): Promise<PricesNow> {
    const { pool } = this.parts;
    const book = await loadPriceBook(pool);
    return { book, nowMs: await databaseNowMs(pool) };
  }
}

function rulesOf({ open, ...rest }: GroupRules) {
  const { requestsPerMinute, tokensPerMinute, imagesPerMinute, maxRunningTasks, maxConcurrentRequests } =
    rest;
  const perMinute = { requestsPerMinute, tokensPerMinute, imagesPerMinute };
  return { open, ...perMinute, maxRunningTasks, maxConcurrentRequests };
}

function shown({ book, nowMs }: PricesNow, group: Group): ShownGroup {
  const multiplier = multiplierAt(book, group.name, nowMs);
  const fixedPrice = fixedPriceAt(book, group.name, nowMs);
  return {
    group,
    models: [...(book.access.get(group.name) ?? [])].sort(),
    multiplier: multiplier && plainDecimal(multiplier),
    fixedPerCall: fixedPrice && plainDecimal(fixedPrice),
  };
}
