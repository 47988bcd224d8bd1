import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fault, faultNames } from '#apps/sandbox-upstream/directives.js';
import { formatAmount, nanos, parseAmount } from '#money/amount.js';
import { protocolNames, Upstreams } from '#upstream/adapters.js';
import type { Capability } from '#upstream/protocol.js';
import { Books } from '../support/books.js';
import { type FaultCall, faultCalls, type Sequel } from '../support/fault-calls.js';
import { addChannels, TOKEN_PRICE } from '../support/fault-channels.js';
import { type FaultRow, faultTables } from '../support/fault-tables.js';
import { type Customer, type Relay, startRelay, until } from '../support/relay.js';

/**
 * Every call is made in the first step of its part, some at once, and the tests then check each result. More at once
 * would only take longer each, up to the time limits.
 */
const AT_ONCE = 6;
/** Faults that end by a time limit. Their calls wait for it together, before the others. */
const SLOW: readonly Fault[] = ['never-finish', 'accept-then-timeout'];
/** After the last two, the creation of a task is repeated until its deadline. */
const SLOW_FOR_TASKS: readonly Fault[] = [...SLOW, 'reject-529', 'error-200'];
/**
 * Counts have no charge; the journeys of token counts and of contents have their faults. An edit is charged the same
 * with a mask, and a video the same without sound.
 */
const NO_CHARGE_OF_ITS_OWN: readonly Capability[] = [
  'messagesCount',
  'contentsCount',
  'maskedEdits',
  'silentVideos',
];
const TOKENS = 8;
/** The field names and braces of a request, which its estimated input includes. */
const MOST_ENVELOPE_TOKENS = 50;
const CREDITS = '1';
/** So long that only calls that wait for it reach it, even on a slow machine. */
const LIMIT_SECONDS = '30';

interface Charge {
  state: string;
  held: bigint;
  settled: bigint | null;
  refunded: bigint | null;
  operatorLoss: bigint;
  channel: string | null;
}

let relay: Relay;
let books: Books;

beforeAll(async () => {
  relay = await startRelay({
    IMAGE_REQUEST_LIMIT_SECONDS: LIMIT_SECONDS,
    STREAM_LIMIT_SECONDS: LIMIT_SECONDS,
    VIDEO_CREATE_LIMIT_SECONDS: '10',
    TASK_DEADLINE_SECONDS: LIMIT_SECONDS,
    FILE_COPY_ATTEMPTS: '2',
    FILE_COPY_BACKOFF_SECONDS: '0.1',
  });
  books = Books.open(relay.fixture.urlFor('billing'));
  await addChannels(relay);
});
afterAll(async () => {
  await books.close();
  await relay.close();
});

it.each(Object.entries(faultTables))('a row for every fault: %s', (_name, table) => {
  expect([...table.keys()].sort()).toEqual([...faultNames].sort());
});

it('a call for everything that a protocol offers', async () => {
  const upstreams = new Upstreams();
  const offered = protocolNames.flatMap((protocol) =>
    [...upstreams.adapterFor(protocol).capabilities]
      .filter((capability) => !NO_CHARGE_OF_ITS_OWN.includes(capability))
      .map((capability) => `${capability} over ${protocol}`),
  );
  await upstreams.close();
  const called = Object.values(faultCalls).flatMap((calls) => calls.map(({ name }) => name));
  expect(called).toEqual(expect.arrayContaining(offered));
});

describe.each(Object.entries(faultCalls))('faults of %s', (part, calls) => {
  const outcomes = new Map<string, FaultRow>();

  beforeAll(async () => {
    const make = async (call: FaultCall, fault: Fault) => {
      outcomes.set(`${call.name} ${fault}`, await outcomeOf(call, fault));
    };
    const isSlow = (fault: Fault) => (part === 'tasks' ? SLOW_FOR_TASKS : SLOW).includes(fault);
    const all = faultNames.flatMap((fault) =>
      calls.filter((call) => faultsOf(call, calls).includes(fault)).map((call) => ({ call, fault })),
    );
    await Promise.all(all.filter(({ fault }) => isSlow(fault)).map(({ call, fault }) => make(call, fault)));
    const jobs = all.filter(({ fault }) => !isSlow(fault));
    const work = async () => {
      for (let job = jobs.shift(); job; job = jobs.shift()) await make(job.call, job.fault);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  });

  describe.each(calls)('$name', (call) => {
    it.each(faultsOf(call, calls))('%s', (fault) => {
      expect(outcomes.get(`${call.name} ${fault}`)).toEqual(call.table.get(fault));
    });
  });

  it('leave the books in order, and the upstream with one job for each task', async () => {
    await books.atRest();
    expect(await books.ledgerFaults()).toEqual([]);
    expect(await books.upstreamFaults(relay.sandboxUrl)).toEqual([]);
  });
});

/**
 * Calls that differ only in their protocol share the faults, so each kind of call meets every fault, and each protocol
 * some of every kind. The contract of the upstreams has all of them for each protocol, and so has this with FAULTS_ALL=1.
 */
function faultsOf({ name, table }: FaultCall, calls: readonly FaultCall[]): Fault[] {
  if (process.env['FAULTS_ALL'] === '1') return [...faultNames];
  const kindOf = (full: string) => full.split(' over ')[0];
  const alike = calls.filter((call) => kindOf(call.name) === kindOf(name) && call.table === table);
  const place = alike.findIndex((call) => call.name === name);
  return faultNames.filter((_, index) => index % alike.length === place);
}

async function outcomeOf(call: FaultCall, fault: Fault): Promise<FaultRow> {
  const customer = await relay.customer(CREDITS);
  const prompt = `a long story about a lighthouse [[fault:${fault}]] [[work:0]] [[tokens:${TOKENS}]]`;
  let answer = 'none';
  try {
    const id = (await call.before?.(customer)) ?? '';
    const opening = await moneyAtRest(customer);
    const response = await call.send(customer, prompt, id);
    answer = `${response.status}`;
    const isAnswered = response.status === 200;
    const sequel = isAnswered ? await call.follow(customer, response) : { then: '-' };
    if (!isAnswered) expect(await customer.balance()).toEqual({ main: opening, held: '0' });
    if (!isAnswered) answer = await refusalIn(response, call);
    return {
      answer,
      repeats: repeatsOf(response),
      then: sequel.then,
      ledger: await ledgerOf(customer, { call, prompt, sequel, opening }),
    };
  } catch (error) {
    return { answer, repeats: '', then: '', ledger: String(error) };
  }
}

/** What a customer has once nothing is held. */
async function moneyAtRest(customer: Customer): Promise<string> {
  return until('the end of every hold', async () => {
    const { main, held } = await customer.balance();
    return held === '0' && main;
  });
}

/** Status and code, from where the clients of this path read them. */
async function refusalIn(response: Response, { shape }: FaultCall): Promise<string> {
  const { status } = response;
  const body = (await response.json()) as Record<string, Record<string, unknown> | string>;
  const error = body['error'] as Record<string, unknown>;
  const code = {
    openai: () => error['code'],
    google: () => (error['details'] as { reason: string }[])[0]?.reason,
    anthropic: () => (error['details'] as { error_code: string }).error_code,
  }[shape]();
  const text = expect.any(String);
  const shapes = {
    openai: { error: { message: text, type: text, param: null, code } },
    google: {
      error: {
        code: status,
        message: text,
        status: expect.stringMatching(/^[A-Z_]+$/),
        details: [expect.any(Object)],
      },
      code,
    },
    anthropic: {
      type: 'error',
      error: { type: expect.stringMatching(/_error$/), message: text, details: { error_code: code } },
      request_id: response.headers.get('request-id'),
    },
  };
  expect(body).toEqual(shapes[shape]);
  return `${status} ${String(code)}`;
}

/** What SDKs that know the headers would do. All others only look at the status. */
function repeatsOf({ status, headers }: Response): string {
  if (![408, 409, 429].includes(status) && status < 500) return 'never';
  if (headers.get('x-should-retry') === 'false') return 'forbidden';
  const seconds = Number(headers.get('retry-after'));
  return seconds >= 1 && seconds <= 5 ? 'asked' : 'left open';
}

async function ledgerOf(
  customer: Customer,
  { call, prompt, sequel, opening }: { call: FaultCall; prompt: string; sequel: Sequel; opening: string },
): Promise<string> {
  const charge = await until('the end of the charge', async () => {
    const { rows } = await relay.fixture.billing.query<Charge>(
      `SELECT state, held, settled, refunded, operator_loss AS "operatorLoss", channel_id AS channel
       FROM usage_log WHERE account_id = $1 ORDER BY created_at DESC`,
      [customer.accountId],
    );
    expect(rows).toHaveLength(call.before ? 2 : 1);
    return rows[0]?.state !== 'held' && rows[0];
  });
  const { state, held, settled, refunded, operatorLoss, channel } = charge;
  expect({ channel, operatorLoss, ended: (settled ?? 0n) + (refunded ?? 0n) }).toEqual({
    channel: call.protocol,
    operatorLoss: 0n,
    ended: held,
  });
  const cost = settled ?? 0n;
  const left = formatAmount(nanos(parseAmount(opening) - cost));
  expect(await customer.balance()).toEqual({ main: left, held: '0' });
  if (state === 'released') return state;
  return `${state} ${sequel.text === undefined ? formatAmount(nanos(cost)) : reasonFor(Number(cost), { prompt, text: sequel.text, heard: call.heard })}`;
}

/** Which of the two ways of billing explains a cost. */
function reasonFor(
  cost: number,
  { prompt, text, heard }: { prompt: string; text: string; heard: number | undefined },
): string {
  const said = Math.ceil(prompt.length / 4) * TOKEN_PRICE.input;
  const sound = (heard ?? 0) * TOKEN_PRICE.input;
  // The sandbox does not receive the prompt.
  if (cost === (sound || said) + TOKENS * TOKEN_PRICE.output) return 'by usage';
  const least = said + sound + Math.ceil(text.length / 4) * TOKEN_PRICE.output;
  const most = least + MOST_ENVELOPE_TOKENS * TOKEN_PRICE.input;
  return cost >= least && cost <= most ? 'by text' : `${cost}, which is neither by usage nor by text`;
}
