import { PasswordHasher } from '#identity/password.hasher.js';
import { newId } from '#platform/ids.js';
import { importReport, stripeReport, yesterday } from '../../console/support/books.js';
import { deadLetter } from '../../console/support/staff.js';
import { type Person, person } from '../../support/console.js';
import { type Customer, json, type Relay, until } from '../../support/relay.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js';

/** Values for the names in braces in an example. */
export type Values = Readonly<Record<string, string>>;

/** The password of everyone in the examples. */
export const PASSWORD = 'correct horse battery';

interface People {
  customer: Customer;
  you: Person;
  staff: Person;
  /** For everyone who needs one. */
  passwordHash: string;
}

interface Named {
  id: string;
}

/** A relay with one of everything that the control plane's examples name, and the people who send them. */
export class Things {
  private constructor(
    readonly relay: Relay,
    private readonly people: People,
    private readonly receiver: WebhookReceiver,
  ) {}

  static async on(relay: Relay): Promise<Things> {
    const customer = await relay.customer('100');
    const you = await person(relay, { accountId: customer.accountId });
    const staff = await person(relay, { roles: ['support', 'finance', 'admin'] });
    const passwordHash = await new PasswordHasher().hash(PASSWORD, you);
    const things = new Things(relay, { customer, you, staff, passwordHash }, await startWebhookReceiver());
    await things.ask(staff, '/api/admin/groups', { name: 'Partners', models: ['imgmodel-4'] });
    await things.givePassword(you);
    await relay.fixture.owner.query(`UPDATE users SET email = 'you@example.com' WHERE id = $1`, [you.userId]);
    return things;
  }

  /** The customer in the examples. */
  get you(): Person {
    return this.people.you;
  }

  get staff(): Person {
    return this.people.staff;
  }

  private get customer(): Customer {
    return this.people.customer;
  }

  async close(): Promise<void> {
    await this.receiver.close();
  }

  /** Somebody else, with the same password. */
  async someone(credits = '0'): Promise<Person> {
    const someone = await person(this.relay, { credits });
    await this.givePassword(someone);
    return someone;
  }

  private async givePassword({ userId }: Person): Promise<void> {
    await this.relay.fixture.owner.query('UPDATE users SET password_hash = $2 WHERE id = $1', [
      userId,
      this.people.passwordHash,
    ]);
  }

  /** Sends a GET, or a POST if there is a body. @throws Error unless it succeeds */
  async ask<T = Named>(who: Person, path: string, body?: object): Promise<T> {
    const answer = await who.send(path, body && json(body));
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return (text === '' ? {} : JSON.parse(text)) as T;
  }

  /** The IDs that most examples are about. */
  async usual(): Promise<Values> {
    const { you, staff, customer } = this;
    const [work, bought, hooks] = [await this.work(), await this.boughtTopup(), await this.delivery()];
    return {
      accountId: you.accountId,
      userId: staff.userId,
      keyId: customer.keyId,
      ticketId: await this.ticket('question'),
      letterId: await deadLetter(this.relay, you.accountId),
      ledgerAccountId: '1',
      transactionId: await this.transaction(),
      periodId: (
        await this.ask(staff, '/api/finance/periods/close', {
          end: '2026-01-01T00:00:00Z',
          requestId: newId(),
        })
      ).id,
      ...work,
      ...bought,
      ...hooks,
    };
  }

  private async transaction(): Promise<string> {
    const { rows } = await this.relay.fixture.billing.query<{ id: string }>(
      'SELECT max(id)::text AS id FROM ledger_transactions',
    );
    return rows[0]!.id;
  }

  private async work(): Promise<Values> {
    const video = { model: 'vendora-imagine-video', prompt: 'a boat', seconds: '4' };
    const task = (await (await this.customer.send('/v1/videos', json(video))).json()) as Named;
    await until('the video', async () => {
      const { state } = await this.ask<{ state: string }>(this.you, `/api/tasks/${task.id}`);
      return state === 'completed';
    });
    const chargeId = await this.paidCharge();
    const { data } = await this.ask<{ data: { url: string }[] }>(this.you, `/api/charges/${chargeId}/images`);
    const link = new URL(data[0]!.url);
    const signed = Object.fromEntries(link.searchParams);
    return { taskId: task.id, chargeId, image: link.pathname.split('/').at(-1)!, ...signed };
  }

  /** An image that you paid for. */
  async paidCharge(): Promise<string> {
    const body = json({ model: 'vendora-imagine-image', prompt: 'a gate' });
    await this.customer.send('/v1/images/generations', body);
    const path = '/api/usage?family=image&state=settled&limit=1';
    const { items } = await until('the charge', async () => {
      const page = await this.ask<{ items: { chargeId: string }[] }>(this.you, path);
      return page.items.length > 0 && page;
    });
    return items[0]!.chargeId;
  }

  /** A chat with enough tokens for the reseller rate. */
  async chat(): Promise<void> {
    const messages = [{ role: 'user', content: 'word '.repeat(100) }];
    await this.customer.send(
      '/v1/chat/completions',
      json({ model: 'vendora-chat', messages, max_tokens: 50 }),
    );
  }

  async order(who = this.you): Promise<string> {
    const body = { credits: '20', provider: 'sandbox', requestId: newId() };
    return (await this.ask(who, '/api/topups', body)).id;
  }

  async boughtTopup(who = this.you): Promise<Values> {
    const orderId = await this.order(who);
    await fetch(`${this.relay.consoleUrl}/sandbox-pay/${orderId}/pay`, {
      method: 'POST',
      redirect: 'manual',
    });
    const topupId = await until('the top-up', async () => {
      const order = await this.ask<{ topupId: string | null }>(who, `/api/topups/${orderId}`);
      return order.topupId ?? false;
    });
    return { orderId, topupId };
  }

  async transfer(): Promise<string> {
    const money = { accountId: this.you.accountId, paid: '13.00', currency: 'USD', paymentId: newId() };
    const body = { ...money, reason: 'Transfer', requestId: newId() };
    const { topup } = await this.ask<{ topup: Named }>(this.staff, '/api/finance/topups', body);
    return topup.id;
  }

  async ticket(kind: string, who: Person = this.you): Promise<string> {
    return (
      await this.ask(who, '/api/tickets', { kind, subject: 'A question', body: 'I would like to know.' })
    ).id;
  }

  async endpoint(): Promise<string> {
    const body = { url: `${this.receiver.url}/hooks`, events: ['video.completed'] };
    return (await this.ask(this.you, '/api/webhooks', body)).id;
  }

  private async delivery(): Promise<Values> {
    const endpointId = await this.endpoint();
    const { id: deliveryId } = await this.ask(this.you, `/api/webhooks/${endpointId}/pings`, {});
    return { endpointId, deliveryId };
  }

  /** A payment that only Stripe's report knows. @returns its line's ID */
  async lostPayment(lineId = `txn_${newId()}`, amount = '13.00'): Promise<string> {
    await importReport(this.staff, [{ lineId, paymentId: `pi_${lineId}`, amount, fee: '0.68' }]);
    return lineId;
  }

  /** Money that a provider took for a reason of its own. @returns the ID of the item in suspense */
  async takenMoney(): Promise<string> {
    const lineId = `txn_${newId()}`;
    const body = stripeReport([]) + `${lineId},${yesterday()} 10:00:00,usd,-4.00,0,adjustment,,,\n`;
    const init = { method: 'POST', headers: { 'content-type': 'text/csv' }, body };
    const today = new Date().toISOString().slice(0, 10);
    await this.staff.send(`/api/finance/provider-reports/stripe?from=${yesterday()}&to=${today}`, init);
    return until('the item', async () => {
      const path = '/api/finance/suspense?state=open';
      const { items } = await this.ask<{ items: { id: string; why: string }[] }>(this.staff, path);
      return items.find(({ why }) => why === 'provider_adjustment')?.id ?? false;
    });
  }
}
