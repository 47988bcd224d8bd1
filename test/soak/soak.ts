import { setTimeout as pause } from 'node:timers/promises';
import { recordCloseGrace } from '#finance/periods/close-grace.js';
import { recordLimit } from '#ledger/postings/outflow.js';
import { parseAmount } from '#money/amount.js';
import { Load } from '../rehearsals/load.js';
import type { Undo } from '../support/outages/undo.js';
import { OUTAGE_DURATIONS } from '../support/durations.js';
import { RECOVERY_LIMIT_MS } from '../support/eventually.js';
import { Dice } from '../support/month/dice.js';
import { ticketOf } from '../support/tickets.js';
import { gapMs } from './arrivals.js';
import { Business, type Deeds, type Patron } from './business.js';
import { Caller, drawCall, MORE_MODELS } from './calls.js';
import { KafkaSite } from './kafka.site.js';
import { drawStrikes, type Strike, strikeName } from './schedule.js';
import type { Site } from './site.js';
import { StandaloneSite } from './standalone.site.js';
import { compare, type Comparison, faultsAtRest, faultsNow } from './verdict.js';

export const modes = ['standalone', 'kafka'] as const;
export type Mode = (typeof modes)[number];

export interface SoakOptions {
  seed: number;
  minutes: number;
  mode: Mode;
  /** Use only these strikes of the seed, numbered from 1. */
  only?: readonly number[] | undefined;
}

export interface SoakReport extends Comparison {
  seed: number;
  minutes: number;
  mode: Mode;
  /** How often each strike hit the programs. */
  injected: Record<string, number>;
  /** Faults that this mode or this machine cannot cause, why, and how many of the planned strikes they were. */
  missing: { what: string; why: string; strikes: number }[];
  /** Points that no program reached in time. */
  unreached: number;
  deeds: Record<string, Deeds>;
  /** How often all rules and controls were checked during the run. */
  checks: number;
  /**
   * How long it took until calls were served again, from each strike, or from its end if it lasts: overall, and by
   * kind.
   */
  recovery: { meanMs: number; worstMs: number; worst: string; worstMsOf: Record<string, number> };
  slowestMs: number;
  /** The number of planned strikes. */
  strikes: number;
  /** Planned strikes without time left, because programs recovered more slowly than strikes follow each other. */
  leftOut: number;
}

const DURATIONS = {
  ...OUTAGE_DURATIONS,
  STREAM_LIMIT_SECONDS: '4',
  CHAIN_SEAL_SECONDS: '1',
  RECOGNITION_SECONDS: '0.7',
  COST_ACCRUAL_SECONDS: '0.9',
  CHANNEL_FAILURES_TO_OPEN: '1000',
};
const PATRONS = 8;
const PER_SECOND = 6;
/** The mean pause between two actions of staff, banks and customers. */
const DEED_MS = 700;
/** No strikes after this fraction of a run. */
const STRUCK_PART = 0.9;
/** Younger work may be in progress: longer than a program needs to restart and finish its work. */
const GRACE_MS = 90_000;

const NOTHING: Comparison = { answered: 0, failed: 0, unanswered: 0, lost: 0, doubled: 0, faults: [] };

/** Runs customers for some minutes while faults strike, and compares every answer with the books. */
export async function soak(
  options: SoakOptions,
  { undo, say }: { undo: Undo; say: (text: string) => void },
): Promise<SoakReport> {
  try {
    say(`seed ${options.seed}: starting the programs`);
    const Sites = options.mode === 'kafka' ? KafkaSite : StandaloneSite;
    const site: Site = await Sites.start(DURATIONS, undo);
    return await new Soak(site, options, say).run();
  } finally {
    await undo.all();
  }
}

class Soak {
  private readonly strikes: readonly Strike[];
  private readonly caller: Caller;
  private readonly recoveries: { what: string; ms: number }[] = [];
  private readonly faults: string[] = [];
  private unreached = 0;
  private leftOut = 0;
  private checks = 0;
  private begunAt = 0;

  constructor(
    private readonly site: Site,
    private readonly options: SoakOptions,
    private readonly say: (text: string) => void,
  ) {
    const { only } = options;
    const drawn = drawStrikes({ ...options, kinds: site.kinds });
    this.strikes = only ? drawn.filter((_, index) => only.includes(index + 1)) : drawn;
    this.caller = new Caller(() => site.url());
  }

  /** Never throws once customers exist: a run that breaks off is reported as a fault, with its seed. */
  async run(): Promise<SoakReport> {
    const patrons = await this.furnish();
    const { seed } = this.options;
    const [business, load] = [new Business(this.site, new Dice(seed + 1), patrons), this.loadOf(patrons)];
    await this.live(business, load).catch((error: Error) => this.faults.push(error.stack ?? error.message));
    const compared = await this.compare().catch((error: Error) => {
      this.faults.push(error.stack ?? error.message);
      return NOTHING;
    });
    return this.report(compared, { business, load });
  }

  private async live(business: Business, load: Load): Promise<void> {
    this.begunAt = performance.now();
    const ending = new AbortController();
    load.start();
    const deeds = this.deeds(business, ending.signal);
    try {
      await load.served(this.begunAt, () => this.site.logs());
      await this.strikeAll(load);
      await pause(Math.max(0, this.begunAt + this.lengthMs - performance.now()));
    } finally {
      ending.abort();
      await Promise.all([load.stop(), deeds]);
    }
  }

  /** Creates customers, the models that the first catalog lacks, and limits that no action reaches. */
  private async furnish(): Promise<Patron[]> {
    const { books } = this.site;
    for (const [id, family, unit, price] of MORE_MODELS) {
      await books.pool.query(
        `INSERT INTO models (id, family, unit, owned_by, limits) VALUES ($1, $2, $3, 'vendora', '{}')`,
        [id, family, unit],
      );
      await books.pool.query('INSERT INTO price_versions (model_id, unit_price) VALUES ($1, $2)', [
        id,
        price,
      ]);
      await books.pool.query(`INSERT INTO group_models (group_name, model_id) VALUES ('Vendora-Main', $1)`, [
        id,
      ]);
      await books.pool.query(`INSERT INTO channel_models VALUES ('sandbox', $1, $1)`, [id]);
    }
    for (const name of ['adjustment', 'charge-refund', 'topup-refund'] as const)
      await recordLimit(books.pool, name, parseAmount('1000000'));
    await recordCloseGrace(books.pool, GRACE_MS);
    const patrons: Patron[] = [];
    while (patrons.length < PATRONS) {
      const account = await books.account('500');
      patrons.push({ ...account, ...(await ticketOf({ owner: books.pool }, account.accountId)) });
    }
    return patrons;
  }

  private loadOf(accounts: readonly Patron[]): Load {
    const dice = new Dice(this.options.seed + 2);
    return new Load({
      gapMs: () => gapMs(dice, { perSecond: PER_SECOND, part: this.part() }),
      ask: () => this.caller.make(drawCall(dice, accounts)),
      limitMs: RECOVERY_LIMIT_MS,
    });
  }

  private async deeds(business: Business, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await business.next().catch((error: Error) => this.faults.push(`a deed failed: ${error.stack}`));
      await pause(DEED_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** At least one strike, however slow the machine is. */
  private async strikeAll(load: Load): Promise<void> {
    for (const [index, strike] of this.strikes.entries()) {
      if (index > 0 && this.part() > STRUCK_PART) {
        this.leftOut = this.strikes.length - index;
        return;
      }
      await pause(Math.max(0, this.begunAt + strike.at * this.lengthMs - performance.now()));
      const sinceMs = performance.now();
      await this.strike(strike, load);
      await this.check(sinceMs);
      if (this.faults.length > 0) return;
    }
  }

  private async strike(strike: Strike, load: Load): Promise<void> {
    const what = strikeName(strike);
    if (this.site.missing.has(strike.kind)) {
      this.say(`${what}: not possible here`);
      return;
    }
    const recoveringAt = await this.site.strike(strike);
    if (recoveringAt === null) {
      this.unreached += 1;
      return;
    }
    const ms = await load.served(recoveringAt, () => this.site.logs());
    this.recoveries.push({ what, ms });
    this.say(`${what}: served again after ${(ms / 1_000).toFixed(1)} s`);
  }

  /** Work that was in progress when the last strike began may still be. */
  private async check(sinceMs: number): Promise<void> {
    this.faults.push(...(await faultsNow(this.site.books, GRACE_MS + performance.now() - sinceMs)));
    this.checks += 1;
  }

  private async compare(): Promise<Comparison> {
    const { site } = this;
    this.say('waiting for every charge and task to end');
    await site.atRest();
    const compared = await compare(site.books, this.caller);
    const repairs = await site.repairs();
    this.faults.push(...(await faultsAtRest(site.books, site.sandboxUrl)));
    if (repairs > 0) this.faults.push(`${repairs} charges were left to the repair`);
    return compared;
  }

  private report(compared: Comparison, { business, load }: { business: Business; load: Load }): SoakReport {
    const { recoveries, strikes, unreached, leftOut, checks, faults } = this;
    const { seed, minutes, mode } = this.options;
    const worst = recoveries.toSorted((one, other) => other.ms - one.ms)[0];
    const sum = recoveries.reduce((total, { ms }) => total + ms, 0);
    return {
      seed,
      minutes,
      mode,
      ...compared,
      injected: countOf(recoveries.map(({ what }) => what)),
      missing: this.missing(),
      unreached,
      deeds: Object.fromEntries(business.deeds),
      checks,
      recovery: {
        meanMs: Math.round(sum / Math.max(1, recoveries.length)),
        worstMs: Math.round(worst?.ms ?? 0),
        worst: worst?.what ?? 'none',
        worstMsOf: worstOf(recoveries),
      },
      slowestMs: Math.round(load.slowestMs),
      strikes: strikes.length,
      leftOut,
      faults: [...faults, ...compared.faults],
    };
  }

  private missing(): SoakReport['missing'] {
    return [...this.site.missing].map(([kind, why]) => ({
      what: strikeName({ kind, point: null }),
      why,
      strikes: this.strikes.filter((strike) => strike.kind === kind).length,
    }));
  }

  /** How much of the run is over, from 0 to 1. */
  private part(): number {
    return (performance.now() - this.begunAt) / this.lengthMs;
  }

  private get lengthMs(): number {
    return this.options.minutes * 60_000;
  }
}

function countOf(words: readonly string[]): Record<string, number> {
  const counts = [...Map.groupBy(words, (word) => word)].map(([word, each]) => [word, each.length] as const);
  return Object.fromEntries(counts);
}

function worstOf(recoveries: readonly { what: string; ms: number }[]): Record<string, number> {
  const worst = [...Map.groupBy(recoveries, ({ what }) => what)].map(
    ([what, each]) => [what, Math.round(Math.max(...each.map(({ ms }) => ms)))] as const,
  );
  return Object.fromEntries(worst);
}
