import type pg from 'pg';
import { z } from 'zod';
import { isDeepStrictEqual } from 'node:util';
import type { ApprovalService } from '#approvals/approval.service.js';
import { requireKnown, requireModels } from '#catalog/known-names.js';
import type { EntityTransaction } from '#database/entity-transaction.js';
import { decideAlone, readFact } from '#identity/installation.js';
import { ApiError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import type { DoneBy } from '../prices/proposal.service.js';
import { type CatalogChanges, changeCatalog } from './catalog.changes.js';
import { type Entries, refuseRemoved, removedSince } from './removed-since.js';

const KIND = 'channel.routes';
/** Names that end with ID are stored as they are: some vendors' model names look like email addresses. */
const payload = z.strictObject({
  channel: z.string(),
  baseUrl: z.string(),
  models: z.array(z.strictObject({ modelId: z.string(), upstreamId: z.string() })),
  groups: z.array(z.string()),
});
type Payload = z.infer<typeof payload>;

/** What is sent through a channel: models, with the upstream's name of each, for keys of groups. */
export interface Routes {
  readonly models: Readonly<Record<string, string>>;
  readonly groups: readonly string[];
}

/** A change of what is sent through a channel, in the transaction that holds the lock of the catalog. */
interface Wanted {
  readonly channel: { readonly id: string; readonly baseUrl: string };
  readonly before: Routes;
  readonly after: Routes;
  readonly by: DoneBy;
}

const NOTHING: Routes = { models: {}, groups: [] };
const RUNNING = `SELECT FROM tasks WHERE channel_id = $1 AND state IN ('submitting', 'submitted', 'unknown') LIMIT 1`;

/**
 * Decides where paid requests go. Nothing else ties the price of a model to what is delivered for it. Once customers have
 * paid, one administrator can only take routes away: a model, another name for it at the upstream, and a group are added
 * after a second one has approved.
 */
export class ChannelRoutes {
  constructor(
    changes: CatalogChanges,
    private readonly approvals: ApprovalService,
  ) {
    approvals.register<Payload>({
      kind: KIND,
      roles: ['admin'],
      payload,
      apply: (client, asked, { decidedBy, approvalId }) =>
        changeCatalog(client, { actor: `user:${decidedBy}`, requestId: approvalId }, async () => {
          await requireSameUpstream(client, asked);
          const { channel, models, groups } = asked;
          const subject = `channel:${channel}`;
          await refuseRemoved(client, approvalId, listsOf(asked));
          const added = { models: Object.fromEntries(models.map(pairOf)), groups };
          await addRoutes(client, channel, added);
          return { result: null, action: 'channel.routes-added', subject, after: added };
        }),
      applied: () => changes.wake(),
    });
  }

  /**
   * Sets them, without those that have to wait. @returns what is set, and the approval that the others wait for
   * @throws ApiError for unknown models and groups
   */
  async set(
    transaction: EntityTransaction,
    { channel, by, ...change }: Wanted,
  ): Promise<{ routes: Routes; approvalId: string | null }> {
    const { client } = transaction;
    const [before, after] = [inOrder(change.before), inOrder(change.after)];
    await requireModels(client, Object.keys(after.models));
    await requireGroups(client, after.groups);
    const added = addedTo(before, after);
    const waits = !isEmpty(added) && (await isPaid(client));
    const routes = waits ? keptOf(before, after) : after;
    if (!isDeepStrictEqual(routes, before)) await setRoutes(client, channel.id, routes);
    return { routes, approvalId: waits ? await this.ask(transaction, { channel, added, by }) : null };
  }

  private async ask(
    transaction: EntityTransaction,
    { channel, added, by }: Pick<Wanted, 'channel' | 'by'> & { added: Routes },
  ): Promise<string> {
    const models = Object.entries(added.models).map(([modelId, upstreamId]) => ({ modelId, upstreamId }));
    const names = [
      ...models.map(({ modelId, upstreamId }) => `${modelId} (upstream name: ${upstreamId})`),
      ...added.groups.map((group) => `group ${group}`),
    ].join(', ');
    const asked = {
      channel: channel.id,
      baseUrl: written(channel.baseUrl),
      models: models.sort((a, b) => (a.modelId < b.modelId ? -1 : 1)),
      groups: [...added.groups],
    };
    const request = {
      kind: KIND,
      subject: `channel:${channel.id}`,
      accountId: null,
      payload: asked,
      amount: null,
      reason: `Send paid requests through ${channel.id}: ${names}.`,
      actor: { userId: by.actor.replace(/^user:/, '') },
      requestId: newId(),
    };
    const lists = listsOf(asked);
    const isOutdated = async (id: string) => (await removedSince(transaction.client, id, lists)) !== null;
    return (await this.approvals.requestOnce(transaction, request, isOutdated)).id;
  }
}

/**
 * A channel that serves customers keeps its base URL: another upstream is another channel, whose models a second
 * administrator approves. In an installation with one person, this is recorded.
 * @throws ApiError second_person_required
 */
export async function refuseOtherUpstream(
  client: pg.ClientBase,
  { channel, before, by }: Pick<Wanted, 'channel' | 'before' | 'by'>,
): Promise<void> {
  const serves = !isEmpty({ ...NOTHING, models: before.models });
  if (!serves && (await client.query(RUNNING, [channel.id])).rowCount === 0) return;
  if (!(await isPaid(client))) return;
  const decision = { actor: by.actor, why: 'second-person', accountId: null } as const;
  const refusal =
    'A channel with models or running tasks keeps its base URL. Add a channel with the new one, and switch this one off once another administrator has approved the models of the new one.';
  await decideAlone(client, { ...decision, subject: `channel:${channel.id}` }, refusal);
}

/** Whether customers have paid, not only in trials. Until then, and with simulated payments, one person sets up the channels. */
async function isPaid(client: pg.ClientBase): Promise<boolean> {
  if (await readFact(client, 'played-payments')) return false;
  return (await client.query(`SELECT FROM topups WHERE provider <> 'sandbox' LIMIT 1`)).rowCount === 1;
}

/** @throws ApiError conflict */
async function requireSameUpstream(client: pg.ClientBase, { channel, baseUrl }: Payload): Promise<void> {
  const { rows } = await client.query<{ baseUrl: string }>(
    'SELECT base_url AS "baseUrl" FROM channels WHERE id = $1',
    [channel],
  );
  if (rows[0] && written(rows[0].baseUrl) === baseUrl) return;
  const message = `The base URL of ${channel} has changed. Reject this, and ask again if it is still needed.`;
  throw new ApiError('conflict', message);
}

function listsOf({ channel, models, groups }: Payload): Entries[] {
  const subject = `channel:${channel}`;
  return [
    { subject, path: ['models'], names: models.map(({ modelId }) => modelId) },
    { subject, path: ['groups'], names: groups },
  ];
}

/** As approvals store it: from what looks like an email address, they would leave out the host as well. */
function written(baseUrl: string): string {
  return baseUrl.replaceAll('@', '%40');
}

function pairOf({ modelId, upstreamId }: Payload['models'][number]): [string, string] {
  return [modelId, upstreamId];
}

function inOrder({ models, groups }: Routes): Routes {
  return { models, groups: [...new Set(groups)].sort() };
}

function isEmpty({ models, groups }: Routes): boolean {
  return Object.keys(models).length === 0 && groups.length === 0;
}

function addedTo(before: Routes, after: Routes): Routes {
  return {
    models: Object.fromEntries(
      Object.entries(after.models).filter(([model, upstream]) => before.models[model] !== upstream),
    ),
    groups: after.groups.filter((group) => !before.groups.includes(group)),
  };
}

/** Those of before that stay, as they were. */
function keptOf(before: Routes, after: Routes): Routes {
  return {
    models: Object.fromEntries(
      Object.entries(before.models).filter(([model]) => Object.hasOwn(after.models, model)),
    ),
    groups: before.groups.filter((group) => after.groups.includes(group)),
  };
}

async function requireGroups(client: pg.ClientBase, groups: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT name FROM groups WHERE name = ANY ($1::text[])',
    [groups],
  );
  requireKnown(groups, new Set(rows.map(({ name }) => name)), { param: 'groups', what: 'group' });
}

async function setRoutes(client: pg.ClientBase, channel: string, routes: Routes): Promise<void> {
  await client.query('DELETE FROM channel_models WHERE channel_id = $1 AND model_id <> ALL ($2::text[])', [
    channel,
    Object.keys(routes.models),
  ]);
  await client.query('DELETE FROM channel_groups WHERE channel_id = $1 AND group_name <> ALL ($2::text[])', [
    channel,
    routes.groups,
  ]);
  await addRoutes(client, channel, routes);
}

async function addRoutes(client: pg.ClientBase, channel: string, { models, groups }: Routes): Promise<void> {
  await client.query(
    `INSERT INTO channel_models (channel_id, model_id, upstream_model)
     SELECT $1, m.ours, m.theirs FROM unnest($2::text[], $3::text[]) AS m (ours, theirs)
     ON CONFLICT (channel_id, model_id) DO UPDATE SET upstream_model = excluded.upstream_model`,
    [channel, Object.keys(models), Object.values(models)],
  );
  await client.query(
    `INSERT INTO channel_groups (channel_id, group_name) SELECT $1, g FROM unnest($2::text[]) AS g ON CONFLICT DO NOTHING`,
    [channel, groups],
  );
}
