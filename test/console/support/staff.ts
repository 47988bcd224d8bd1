import { newId } from '#platform/ids.js';
import { storeDeadLetter } from '#operations/dead-letters.store.js';
import type { paths } from '#apps/console/api/schema.js';
import { type Person, person } from '../../support/console.js';
import { type Customer, json, type Relay, until } from '../../support/relay.js';

type Change =
  paths['/api/admin/price-proposals']['post']['requestBody']['content']['application/json']['changes'][number];

/** Creates a price proposal as an administrator. Returns its ID. */
export async function proposal(
  { api }: Person,
  changes: Change[],
  more: { note?: string; effectiveAt?: string } = {},
): Promise<string> {
  const { data, error } = await api.POST('/api/admin/price-proposals', { body: { changes, ...more } });
  if (!data) throw new Error(`no proposal: ${JSON.stringify(error)}`);
  return data.id;
}

/** Confirms it as a different administrator than its author, since most changes here are large. */
export async function confirmed(relay: Relay, proposalId: string): Promise<void> {
  const { api } = await person(relay, { roles: ['admin'] });
  const params = { path: { proposalId } };
  await api.POST('/api/admin/price-proposals/{proposalId}/confirm', { params, body: { revision: 1 } });
}

/** A person who called for images and a chat, and the charge for the first image. */
export async function customerAtWork(
  relay: Relay,
): Promise<{ owner: Person; customer: Customer; chargeId: string }> {
  const customer = await relay.customer('20');
  const owner = await person(relay, { accountId: customer.accountId });
  const { data } = await owner.api.PATCH('/api/account', { body: { name: 'The north studio' } });
  if (!data) throw new Error('the account has no name');
  const picture = { model: 'vendora-imagine-image', prompt: 'a gate', n: 2 };
  await customer.send('/v1/images/generations', json(picture));
  await customer.send('/v1/images/generations', json({ ...picture, prompt: 'a gate [[fault:reject-503]]' }));
  const messages = [{ role: 'user', content: 'word '.repeat(100) }];
  await customer.send('/v1/chat/completions', json({ model: 'vendora-chat', messages, max_tokens: 50 }));
  const settled = await until('the requests to be settled', async () => {
    const usage = await owner.api.GET('/api/usage', { params: { query: { state: 'settled' } } });
    return usage.data!.items.length === 2 ? usage.data!.items : undefined;
  });
  return { owner, customer, chargeId: settled.find(({ family }) => family === 'image')!.chargeId };
}

type TicketBody = paths['/api/tickets']['post']['requestBody']['content']['application/json'];

export async function ticketOf({ api }: Person, body: TicketBody): Promise<string> {
  const { data, error } = await api.POST('/api/tickets', { body });
  if (!data) throw new Error(`no ticket: ${JSON.stringify(error)}`);
  return data.id;
}

let letters = 0;

/** A message that billing could not handle, about an unknown charge. Returns the dead letter's ID. */
export async function deadLetter(relay: Relay, accountId: string): Promise<string> {
  const chargeId = newId();
  const payload = JSON.stringify({
    chargeId,
    accountId,
    outcome: 'failed',
    channel: null,
    reason: { code: 'x', message: 'x' },
    upstreamStatus: null,
    latencyMs: null,
  });
  await storeDeadLetter(relay.fixture.billing, {
    topic: 'charge.resolved',
    group: 'billing',
    partition: 0,
    offset: String((letters += 1)),
    key: accountId,
    payload,
    id: chargeId,
    reason: 'Error: it was meant to fail',
  });
  const { rows } = await relay.fixture.billing.query<{ id: bigint }>(
    'SELECT max(id) AS id FROM dead_letters',
  );
  return rows[0]!.id.toString();
}
