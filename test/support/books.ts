import type pg from 'pg';
import { createCustomer } from '#people/accounts/customers.js';
import { VENDORA_MAIN } from '#groups/group.js';
import { checkLedger } from '#ledger/checks/ledger-check.js';
import { formatAmount, parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { priceCredits, STANDARD_RATE } from '#topup/conversion.js';
import { openPatientPool } from './database.js';
import { until } from './eventually.js';
import { describeCall, type Told, wasLost } from './shoppers.js';
import { recordTopup } from './topups.js';

export interface Account {
  accountId: string;
  apiKey: string;
  /** Credits bought, nano-USD. */
  opening: bigint;
}

/** A video as the sandbox upstream remembers it. */
interface UpstreamTask {
  id: string;
  idempotencyKey: string | null;
  dialect: string;
  model: string;
  prompt: string;
}

interface OwnTask {
  id: string;
  upstreamId: string | null;
  state: string;
  upstreamModel: string | null;
  prompt: string | null;
}

const OWN_TASKS = `SELECT id, upstream_id AS "upstreamId", state, upstream_model AS "upstreamModel", request->>'prompt' AS prompt
  FROM tasks`;

/** Google, fal and Meshy ids are at the end of paths. */
function isNamed(job: UpstreamTask, { upstreamId }: OwnTask): boolean {
  return upstreamId?.split('/').at(-1) === job.id;
}

/** Whether a job belongs to a task of a vendor without idempotency keys: by its id, otherwise by the request. */
function isFor(job: UpstreamTask, task: OwnTask): boolean {
  if (task.upstreamId !== null) return isNamed(job, task);
  // Vertex AI also puts models at the end of paths.
  const isOfModel = task.upstreamModel === job.model || job.model.endsWith(`/models/${task.upstreamModel}`);
  return isOfModel && task.prompt === job.prompt;
}

interface Charge {
  state: string;
  amount: bigint;
  settled: bigint | null;
  requestId: string | null;
  taskId: string | null;
  task: string | null;
}

/** Unfinished work. An idle relay has none. */
const UNREST = `
SELECT (SELECT count(*) FROM charges WHERE state = 'held')::int AS held,
  (SELECT count(*) FROM tasks WHERE state NOT IN ('completed', 'failed', 'refused'))::int AS "tasksUnderWay",
  (SELECT count(*) FROM tasks t LEFT JOIN charges c ON c.id = t.charge_id
    WHERE t.state IN ('completed', 'failed') AND c.id IS NULL)::int AS "tasksWithoutCharge",
  (SELECT count(*) FROM outbox)::int AS outbox`;

const CHARGES = `
SELECT c.state, c.amount, c.settled, c.request_id AS "requestId", c.task_id AS "taskId", t.state AS task
FROM charges c LEFT JOIN tasks t ON t.charge_id = c.id WHERE c.account_id = $1`;

/** The books of a relay that runs as separate processes, read from its database. */
export class Books {
  private constructor(readonly pool: pg.Pool) {}

  static open(databaseUrl: string): Books {
    return new Books(openPatientPool({ url: databaseUrl, max: 4, applicationName: 'test-books' }));
  }

  close(): Promise<void> {
    return this.pool.end();
  }

  /** A customer with a key and a balance from a recorded top-up. */
  async account(credits: string, group = VENDORA_MAIN): Promise<Account> {
    const { accountId, apiKey } = await createCustomer(this.pool, { name: 'Shopper', group });
    const bought = priceCredits(parseAmount(credits), STANDARD_RATE);
    const payment = { provider: 'manual' as const, paymentId: newId(), currency: 'USD' };
    await recordTopup(this.pool, { accountId, ...payment, ...bought, rate: STANDARD_RATE });
    return { accountId, apiKey, opening: bought.credits };
  }

  /** Waits until every charge and task has ended and every outbox message is sent. */
  async atRest(): Promise<void> {
    let unrest = {};
    await until(
      'every charge and task to end',
      async () => {
        unrest = (await this.pool.query<Record<string, number>>(UNREST)).rows[0] ?? {};
        return Object.values(unrest).every((count) => count === 0);
      },
      { state: () => JSON.stringify(unrest) },
    );
  }

  async balanceOf({ accountId }: Pick<Account, 'accountId'>): Promise<{ main: string; held: string }> {
    const { rows } = await this.pool.query<{ main: bigint; held: bigint }>(
      'SELECT main, held FROM customer_balances WHERE account_id = $1',
      [accountId],
    );
    const { main = 0n, held = 0n } = rows[0] ?? {};
    return { main: formatAmount(main), held: formatAmount(held) };
  }

  /** Violated ledger invariants and dead letters; empty if all is well. */
  async ledgerFaults(): Promise<string[]> {
    const { violations } = await checkLedger(this.pool, { graceMs: 0 });
    const letters = await this.pool.query<object>(
      'SELECT topic, charge_id, reason FROM dead_letters LIMIT 5',
    );
    return [
      ...violations.map(({ invariant, message, rows }) => `${invariant}: ${message} ${JSON.stringify(rows)}`),
      ...letters.rows.map((letter) => `a dead letter: ${JSON.stringify(letter)}`),
    ];
  }

  /** Differences between the books and what the account's clients were sent; empty if they agree. */
  async faultsOf(account: Account, told: readonly Told[]): Promise<string[]> {
    const { rows: charges } = await this.pool.query<Charge>(CHARGES, [account.accountId]);
    const byRequest = new Map(charges.map((charge) => [charge.requestId, charge]));
    const faults = told.flatMap((call) => {
      const fault = faultOf(call, byRequest.get(call.requestId ?? ''));
      return fault === null ? [] : [`${fault}: ${describeCall(call)}`];
    });

    const answered = new Set(told.map(({ requestId }) => requestId));
    const unanswered = charges.filter((charge) => paid(charge) > 0n && !answered.has(charge.requestId));
    const lost = told.filter(wasLost).length;
    if (unanswered.length > lost) faults.push(`${unanswered.length} charges for ${lost} lost answers`);

    const spent = charges.reduce((sum, charge) => sum + paid(charge), 0n);
    const { main, held } = await this.balanceOf(account);
    const expected = formatAmount(account.opening - spent);
    if (main !== expected || held !== '0')
      faults.push(`the balance is ${main}, held ${held}, not ${expected}`);
    return faults;
  }

  /**
   * Tasks with more than one upstream job, and jobs without a task; empty if all is well. `sandboxUrl` is the default
   * upstream of the relay's channel.
   */
  async upstreamFaults(sandboxUrl?: string): Promise<string[]> {
    const response = await fetch(`${sandboxUrl ?? (await this.sandboxUrl())}/_sandbox/tasks`);
    const { tasks } = (await response.json()) as { tasks: UpstreamTask[] };
    const { rows } = await this.pool.query<OwnTask>(OWN_TASKS);
    const byId = new Map(rows.map((task) => [task.id, task]));
    const seen = new Set<OwnTask>();
    // Polled images are not tasks of ours: their jobs end with the call.
    return tasks.flatMap((job) => {
      if (job.dialect === 'image') return [];
      const task =
        job.idempotencyKey === null
          ? rows.find((own) => !seen.has(own) && isFor(job, own))
          : byId.get(job.idempotencyKey);
      if (!task) return [`the upstream works on ${job.id}, which is no task of ours`];
      if (seen.has(task)) return [`the upstream did two jobs for task ${task.id}`];
      seen.add(task);
      const other = task.state === 'completed' && !isNamed(job, task);
      return other ? [`task ${task.id} was completed by ${task.upstreamId}, not by ${job.id}`] : [];
    });
  }

  async sandboxUrl(): Promise<string> {
    const { rows } = await this.pool.query<{ url: string }>('SELECT base_url AS url FROM channels LIMIT 1');
    return rows[0]?.url ?? '';
  }
}

function paid(charge: Charge): bigint {
  return charge.settled ?? 0n;
}

/** The difference between an answer and the charge of its request, if any. */
function faultOf(call: Told, charge: Charge | undefined): string | null {
  if (call.status === null) return null;
  if (call.status !== 200) return charge && paid(charge) > 0n ? 'charged for an error' : null;
  if (!charge) return 'answered without a charge';
  if (call.kind === 'image') {
    return paid(charge) === call.price ? null : `the images were charged ${formatAmount(paid(charge))}`;
  }
  if (charge.taskId !== call.taskId) return `the charge is of task ${charge.taskId}`;
  if (call.seenStatus !== null && call.seenStatus !== charge.task) return `the task is ${charge.task}`;
  const owed = charge.task === 'completed' ? call.price : 0n;
  return paid(charge) === owed ? null : `a ${charge.task} video was charged ${formatAmount(paid(charge))}`;
}

/** The sum of a counter in the text of /metrics; 0 if it never counted anything. */
export async function counterAt(healthPort: number, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${healthPort}/metrics`)).text();
  const lines = text.split('\n').filter((line) => new RegExp(`^${name}(\\{| )`).test(line));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
