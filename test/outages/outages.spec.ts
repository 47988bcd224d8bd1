import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from '../support/deployment.js';
import { OUTAGE_DURATIONS } from '../support/durations.js';
import { RECOVERY_LIMIT_MS, until } from '../support/eventually.js';
import { ensureBuilt } from '../support/programs.js';
import { seededRandom, Shoppers } from '../support/shoppers.js';

describe('the programs, while what they depend on is killed under load', () => {
  let relay: Deployment;

  beforeAll(async () => {
    ensureBuilt();
    relay = await Deployment.start({ env: OUTAGE_DURATIONS, each: 1, ownBroker: true });
    await relay.untilReady();
  });

  afterAll(async () => {
    await relay?.stop();
  });

  it.each([
    ['kafka', 1],
    ['postgres', 3],
  ] as const)('%s, %i times: nothing is lost, and they recover on their own', async (what, times) => {
    const groups = [await shoppers(), await shoppers(), await shoppers()];
    const random = seededRandom(3);
    const shopping = Promise.all(groups.map((group) => group.shop(3, random)));
    const count = (fits: (status: number | null) => boolean) =>
      groups.reduce((sum, group) => sum + group.count(({ status }) => fits(status)), 0);
    const untilServed = async () => {
      const before = count((status) => status === 200);
      await until('calls to succeed', async () => count((status) => status === 200) >= before + 15, {
        limitMs: RECOVERY_LIMIT_MS,
        state: () => relay.logs(),
      });
    };
    try {
      for (let round = 0; round < times; round += 1) {
        await untilServed();
        const pid = relay.pids()[what];
        if (pid === null) throw new Error(`${what} is not ours to kill`);
        process.kill(pid, 'SIGKILL');
        const isBack = async () => ![pid, null].includes(relay.pids()[what]);
        await until(`another ${what}`, isBack, { limitMs: RECOVERY_LIMIT_MS });
      }
      await untilServed();
    } finally {
      groups.forEach((group) => group.stop());
      await shopping;
    }
    await relay.untilReady();
    await relay.atRest();
    for (const group of groups) {
      await group.watch();
      expect(await relay.books.faultsOf(group.account, group.told)).toEqual([]);
    }
    expect(count((status) => ![200, 400, 502, 503].includes(status ?? 503))).toBe(0);
    expect(await relay.books.ledgerFaults()).toEqual([]);
    expect(await relay.books.upstreamFaults(relay.ready.sandboxUrl)).toEqual([]);
    expect(await relay.repairs()).toBe(0);
  });

  async function shoppers(): Promise<Shoppers> {
    return new Shoppers(await relay.books.account('50'), relay.nextUrl);
  }
});
