import type pg from 'pg';
import { z } from 'zod';
import type { ApprovalService } from '#approvals/approval.service.js';
import { requireModels } from '#catalog/known-names.js';
import type { EntityTransaction } from '#database/entity-transaction.js';
import { ApiError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import { requireUnchanged } from '#platform/unchanged.js';
import type { DoneBy } from '../prices/proposal.service.js';
import { type CatalogChange, type CatalogChanges, changeCatalog } from './catalog.changes.js';
import { cheapSales, saleColumns, type Sale } from './cheap-sales.js';
import { type Entries, refuseRemoved, removedSince } from './removed-since.js';
import { requireServable } from './served-models.js';

const KIND = 'group.models';
const payload = z.strictObject({
  sales: z.array(z.strictObject({ group: z.string(), model: z.string() })),
});
type Payload = z.infer<typeof payload>;

interface WantedModels {
  readonly models: readonly string[];
  /** As their author read them. */
  readonly was?: { readonly models?: readonly string[] | undefined } | undefined;
}

/** A change of the models of groups, in the transaction that holds the lock of the catalog. */
interface Entry {
  readonly sales: readonly Sale[];
  /** `group:{name}` or `model:{id}`. */
  readonly subject: string;
  /** The field of the request that named them. */
  readonly param: string;
  readonly by: DoneBy;
}

/**
 * The models that keys of a group may use. One administrator sets them. A model that the group sells far below its list
 * price, or at a fixed price, enters it once a second one has approved.
 */
export class GroupModels {
  constructor(
    private readonly changes: CatalogChanges,
    private readonly approvals: ApprovalService,
  ) {
    approvals.register<Payload>({
      kind: KIND,
      roles: ['admin'],
      payload,
      apply: (client, asked, { decidedBy, approvalId }) =>
        changeCatalog(client, { actor: `user:${decidedBy}`, requestId: approvalId }, async () => {
          const { sales } = asked;
          await refuseRemoved(client, approvalId, sales.map(entryOf));
          await addSales(client, sales, 'models');
          return { result: null, action: 'group.models-added', subject: subjectOf(sales), after: asked };
        }),
      applied: () => changes.wake(),
    });
  }

  /**
   * @returns the approval that missing models wait for; null: none is missing
   * @throws ApiError for an unknown group or model, or one that the group may not serve, and `conflict` if they are no
   * longer as they were
   */
  set(group: string, wanted: WantedModels, by: DoneBy): Promise<string | null> {
    return this.changes.make(by, (transaction) => this.change(transaction, { group, ...wanted, by }));
  }

  /** The same, as a change in the transaction that holds the lock of the catalog. */
  async change(
    transaction: EntityTransaction,
    { group, models, was, by }: WantedModels & { group: string; by: DoneBy },
  ): Promise<CatalogChange<string | null>> {
    const { client } = transaction;
    const subject = `group:${group}`;
    const before = await modelsOf(client, group);
    requireUnchanged<{ models: readonly string[] }>({ models: [...before].sort() }, { models, was });
    await requireModels(client, models);
    const removed = before.filter((model) => !models.includes(model));
    if (removed.length > 0) await deleteSales(client, salesIn(group, removed));
    const added = [...new Set(models)].filter((model) => !before.includes(model));
    const sales = salesIn(group, added);
    const result =
      added.length === 0 ? null : await this.enter(transaction, { sales, subject, param: 'models', by });
    return { result, action: 'group.models-set', subject, before, after: await modelsOf(client, group) };
  }

  /**
   * Adds known models to known groups. @returns the approval that the cheap ones wait for; null: none is cheap
   * @throws ApiError for a model that a group may not serve
   */
  async enter(transaction: EntityTransaction, { sales, subject, param, by }: Entry): Promise<string | null> {
    const { client } = transaction;
    await addSales(client, sales, param);
    const cheap = await cheapSales(client, sales);
    if (cheap.length === 0) return null;
    await deleteSales(client, cheap);
    const named = cheap.map(({ group, model }) => `${model} to ${group}`).join(', ');
    const asked = {
      kind: KIND,
      subject,
      accountId: null,
      payload: { sales: inOrder(cheap) },
      amount: null,
      reason: `Add ${named}. The price there is fixed, or far below the list price.`,
      actor: { userId: by.actor.replace(/^user:/, '') },
      requestId: newId(),
    };
    const isOutdated = async (id: string) => (await removedSince(client, id, cheap.map(entryOf))) !== null;
    return (await this.approvals.requestOnce(transaction, asked, isOutdated)).id;
  }
}

export function groupNotFound(name: string): ApiError {
  return new ApiError('not_found', `There is no group ${name}.`);
}

/** Adds known models to known groups, at whatever price. @throws ApiError for a model that a group may not serve */
export async function addSales(client: pg.ClientBase, sales: readonly Sale[], param: string): Promise<void> {
  await client.query(
    `INSERT INTO group_models (group_name, model_id)
     SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT DO NOTHING`,
    saleColumns(sales),
  );
  await requireServable(client, { groups: sales.map(({ group }) => group), param });
}

async function deleteSales(client: pg.ClientBase, sales: readonly Sale[]): Promise<void> {
  await client.query(
    `DELETE FROM group_models g USING unnest($1::text[], $2::text[]) AS s (group_name, model_id)
     WHERE g.group_name = s.group_name AND g.model_id = s.model_id`,
    saleColumns(sales),
  );
}

function entryOf({ group, model }: Sale): Entries {
  return { subject: `group:${group}`, path: [], names: [model] };
}

export function salesIn(group: string, models: readonly string[]): Sale[] {
  return models.map((model) => ({ group, model }));
}

function inOrder(sales: readonly Sale[]): Sale[] {
  const keyOf = ({ group, model }: Sale) => JSON.stringify([group, model]);
  return sales.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

/** Their group. A new model can enter several groups. */
function subjectOf(sales: readonly Sale[]): string {
  const [{ group, model }] = sales as readonly [Sale];
  return sales.every((sale) => sale.group === group) ? `group:${group}` : `model:${model}`;
}

/** @throws ApiError for an unknown group */
export async function modelsOf(client: pg.ClientBase, group: string): Promise<string[]> {
  const { rows } = await client.query<{ models: string[] }>(
    `SELECT ARRAY(SELECT model_id FROM group_models WHERE group_name = name ORDER BY 1) AS models
     FROM groups WHERE name = $1`,
    [group],
  );
  if (!rows[0]) throw groupNotFound(group);
  return rows[0].models;
}
