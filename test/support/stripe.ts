import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Stripe from 'stripe';
import { newId } from '#platform/ids.js';

/** What the stand-in stores for a checkout: the fields of Stripe's object that we read. */
export interface StandInSession {
  id: string;
  object: 'checkout.session';
  client_reference_id: string;
  amount_total: number;
  currency: string;
  status: 'open' | 'complete' | 'expired';
  payment_status: 'unpaid' | 'paid';
  payment_intent: string | null;
  expires_at: number;
  url: string;
}

export interface StandInRefund {
  id: string;
  object: 'refund';
  amount: number;
  currency: string;
  payment_intent: string;
  status: 'succeeded' | 'pending' | 'failed';
  failure_reason?: string;
  metadata: Record<string, string>;
}

/** A balance transaction as Stripe lists it: the fields that we read. */
export interface StandInMovement {
  id: string;
  object: 'balance_transaction';
  amount: number;
  fee: number;
  net: number;
  currency: string;
  created: number;
  available_on: number;
  reporting_category: string;
  description: string | null;
  source: { id: string; object: string; payment_intent?: string } | null;
  /** The payout that included it. Stripe shows it only when asked for that payout. */
  payout?: string;
}

export interface StandInPayout {
  id: string;
  object: 'payout';
  automatic: boolean;
  reconciliation_status: 'not_applicable' | 'in_progress' | 'completed';
}

/**
 * The part of Stripe's API that we use, for Stripe's real package to talk to: checkouts and refunds with idempotency
 * keys. Events are signed by the package's own helper. `deliver` sends them to a relay.
 */
export class StripeStandIn {
  static readonly webhookSecret = 'whsec_of_the_tests';
  readonly sessions = new Map<string, StandInSession>();
  readonly refunds = new Map<string, StandInRefund>();
  /** Oldest first. */
  readonly movements: StandInMovement[] = [];
  readonly payouts = new Map<string, StandInPayout>();
  /** The status of the next refunds. */
  refundStatus: StandInRefund['status'] = 'succeeded';
  /** How many requests to answer with 503 after carrying them out. */
  lostAnswers = 0;
  private readonly answers = new Map<string, { asked: string; status: number; body: unknown }>();
  private readonly signer = new Stripe('sk_test_of_the_tests');

  private constructor(private readonly server: Server) {}

  static async start(): Promise<StripeStandIn> {
    const server = createServer((request, response) => void standIn.answer(request, response));
    const standIn = new StripeStandIn(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return standIn;
  }

  /** For a relay's configuration. */
  get environment(): Record<string, string> {
    const { port } = this.server.address() as AddressInfo;
    return {
      STRIPE_SECRET_KEY: 'sk_test_of_the_tests',
      STRIPE_WEBHOOK_SECRET: StripeStandIn.webhookSecret,
      STRIPE_API_BASE: `http://127.0.0.1:${port}`,
    };
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Forgets every idempotency key, like Stripe after a day. */
  forgetKeys(): void {
    this.answers.clear();
  }

  sessionOf(orderId: string): StandInSession {
    const found = [...this.sessions.values()].find((each) => each.client_reference_id === orderId);
    if (!found) throw new Error(`no checkout of order ${orderId}`);
    return found;
  }

  /** The customer pays. The event is created but not delivered. */
  pay(orderId: string, changed: Partial<StandInSession> = {}): { event: object; paymentId: string } {
    const session = this.sessionOf(orderId);
    const paymentId = `pi_${newId()}`;
    Object.assign(session, { status: 'complete', payment_status: 'paid', payment_intent: paymentId });
    return { paymentId, event: this.event('checkout.session.completed', { ...session, ...changed }) };
  }

  /** Adds a balance transaction, such as a charge of 1300 with a fee of 68. */
  move(
    category: string,
    amount: number,
    of: { fee?: number; sourceId?: string; paymentId?: string; description?: string; daysAgo?: number } = {},
  ): StandInMovement {
    const { fee = 0, sourceId, paymentId, description = null, daysAgo = 0 } = of;
    const created = Math.floor(Date.now() / 1000) - 60 - daysAgo * 86_400;
    const movement: StandInMovement = {
      id: `txn_${newId()}`,
      object: 'balance_transaction',
      reporting_category: category,
      description,
      amount,
      fee,
      net: amount - fee,
      currency: 'usd',
      created,
      available_on: created + 2 * 86_400,
      source:
        sourceId === undefined
          ? null
          : { id: sourceId, object: category, ...(paymentId ? { payment_intent: paymentId } : {}) },
    };
    this.movements.push(movement);
    return movement;
  }

  /** Pays out everything not yet paid out. The payout's amount is wrong by `off`. */
  payOut(off = 0): { payoutId: string; movement: StandInMovement } {
    const payoutId = `po_${newId()}`;
    const brought = this.movements.filter(
      ({ payout, reporting_category }) => payout === undefined && reporting_category !== 'payout',
    );
    for (const each of brought) each.payout = payoutId;
    const sum = brought.reduce((total, { net }) => total + net, 0);
    const status = { automatic: true, reconciliation_status: 'completed' } as const;
    this.payouts.set(payoutId, { id: payoutId, object: 'payout', ...status });
    const movement = this.move('payout', -sum - off, { sourceId: payoutId });
    movement.payout = payoutId;
    return { payoutId, movement };
  }

  event(type: string, object: object, id = `evt_${newId()}`): object {
    return { id, object: 'event', type, created: Math.floor(Date.now() / 1000), data: { object } };
  }

  dispute(disputeId: string, paymentId: string, of: { amount: number; status: string }): object {
    const type = ['won', 'lost'].includes(of.status) ? 'charge.dispute.closed' : 'charge.dispute.created';
    const rest = { object: 'dispute', payment_intent: paymentId, currency: 'usd' };
    return this.event(type, { id: disputeId, ...rest, ...of });
  }

  /** An event as Stripe sends it. Any `secret` but ours makes the signature wrong. */
  signed(
    event: object,
    secret = StripeStandIn.webhookSecret,
  ): { payload: string; headers: Record<string, string> } {
    const payload = JSON.stringify(event, null, 2);
    const signature = this.signer.webhooks.generateTestHeaderString({ payload, secret });
    return { payload, headers: { 'stripe-signature': signature } };
  }

  /** Posts an event as Stripe would. */
  async deliver(consoleUrl: string, event: object, secret = StripeStandIn.webhookSecret): Promise<Response> {
    const { payload, headers } = this.signed(event, secret);
    return fetch(`${consoleUrl}/api/payments/events/stripe`, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
      body: payload,
    });
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = await textOf(request);
    const key = request.headers['idempotency-key'] as string | undefined;
    const stored = key === undefined ? undefined : this.answers.get(key);
    const isOther = stored !== undefined && stored.asked !== asked;
    const { status, body } = isOther
      ? refused('The key was used with other parameters.', 'idempotency_error')
      : (stored ?? this.carryOut(request, new URLSearchParams(asked)));
    if (key !== undefined && !isOther) this.answers.set(key, { asked, status, body });
    const isLost = this.lostAnswers > 0;
    if (isLost) this.lostAnswers -= 1;
    // Without this header, the package would retry by itself.
    response.writeHead(isLost ? 503 : status, {
      'content-type': 'application/json',
      ...(isLost ? { 'stripe-should-retry': 'false' } : {}),
    });
    response.end(JSON.stringify(isLost ? { error: { type: 'api_error', message: 'lost' } } : body));
  }

  private carryOut(
    { method, url = '' }: IncomingMessage,
    fields: URLSearchParams,
  ): { status: number; body: unknown } {
    const { pathname, searchParams } = new URL(url, 'http://stripe');
    const [, , first, second, id, verb] = pathname.split('/');
    if (first === 'refunds')
      return { status: 200, body: method === 'GET' ? this.listRefunds(searchParams) : this.refund(fields) };
    if (first === 'balance_transactions') return { status: 200, body: this.listMovements(searchParams) };
    if (first === 'payouts') {
      const payout = this.payouts.get(second ?? '');
      return payout ? { status: 200, body: payout } : missing(second ?? '');
    }
    if (first !== 'checkout' || second !== 'sessions') return missing(pathname);
    if (id === undefined) return { status: 200, body: this.open(fields) };
    const session = this.sessions.get(id);
    if (!session) return missing(id);
    if (verb === 'expire') {
      if (session.status !== 'open') return refused(`The checkout is ${session.status}.`);
      session.status = 'expired';
    }
    return { status: 200, body: session };
  }

  private open(fields: URLSearchParams): StandInSession {
    const id = `cs_test_${newId()}`;
    const session: StandInSession = {
      id,
      object: 'checkout.session',
      status: 'open',
      payment_status: 'unpaid',
      payment_intent: null,
      client_reference_id: fields.get('client_reference_id') ?? '',
      amount_total: Number(fields.get('line_items[0][price_data][unit_amount]')),
      currency: fields.get('line_items[0][price_data][currency]') ?? '',
      expires_at: Number(fields.get('expires_at')),
      url: `https://checkout.stripe.test/${id}`,
    };
    this.sessions.set(id, session);
    return session;
  }

  private refund(fields: URLSearchParams): StandInRefund {
    const refund: StandInRefund = {
      id: `re_${newId()}`,
      object: 'refund',
      currency: 'usd',
      status: this.refundStatus,
      amount: Number(fields.get('amount')),
      payment_intent: fields.get('payment_intent') ?? '',
      metadata: { tollgate_refund: fields.get('metadata[tollgate_refund]') ?? '' },
      ...(this.refundStatus === 'failed' ? { failure_reason: 'expired_or_canceled_card' } : {}),
    };
    this.refunds.set(refund.id, refund);
    return refund;
  }

  /** Newest first, one page at a time. */
  private listMovements(query: URLSearchParams): object {
    const [gte, lt] = [query.get('created[gte]') ?? '0', query.get('created[lt]') ?? '1e12'].map(Number);
    const payout = query.get('payout');
    const all = this.movements
      .filter((each) => payout === null || each.payout === payout)
      .filter(({ created }) => created >= (gte as number) && created < (lt as number))
      .sort((a, b) => b.created - a.created);
    const begin = all.findIndex(({ id }) => id === query.get('starting_after')) + 1;
    const data = all
      .slice(begin, begin + Number(query.get('limit') ?? 10))
      .map(({ payout: _, ...each }) => each);
    const has_more = begin + data.length < all.length;
    return { object: 'list', data, has_more, url: '/v1/balance_transactions' };
  }

  private listRefunds(query: URLSearchParams): object {
    const data = [...this.refunds.values()].filter(
      ({ payment_intent }) => payment_intent === query.get('payment_intent'),
    );
    return { object: 'list', data, has_more: false, url: '/v1/refunds' };
  }
}

function missing(what: string): { status: number; body: unknown } {
  return {
    status: 404,
    body: { error: { type: 'invalid_request_error', message: `No such thing: ${what}` } },
  };
}

function refused(message: string, type = 'invalid_request_error'): { status: number; body: unknown } {
  return { status: 400, body: { error: { type, message } } };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
