import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Person, person } from '../support/console.js';
import { EventStream } from '../support/event-stream.js';
import { GatedUpstream } from '../support/gated-upstream.js';
import { closeClean, type Relay, startRelay, until } from '../support/relay.js';

const REPORTS = 4;
const FILES = 4;
const PLAYED = 4;
const WATCHED = 10;

describe('the console between strangers', () => {
  let relay: Relay;
  let upstream: GatedUpstream;
  let hostile: Person;
  let honest: Person;

  beforeAll(async () => {
    relay = await startRelay({
      CONSOLE_REPORTS_AT_ONCE: String(REPORTS),
      CONSOLE_FILES_AT_ONCE: String(FILES),
      PLAYGROUND_CONCURRENCY: String(PLAYED),
      LIVE_CONNECTIONS: String(WATCHED),
      LIVE_CONNECTIONS_PER_PERSON: '100',
    });
    upstream = await GatedUpstream.before(relay.sandboxUrl, relay.fixture);
    [hostile, honest] = [await person(relay, { credits: '5' }), await person(relay, { credits: '5' })];
  });
  afterAll(async () => {
    await closeClean(relay);
    await upstream.close();
  });

  it.each([
    ['list', '/api/usage', REPORTS],
    ['file', '/api/usage.csv', FILES],
  ])(
    'answers everybody while one person requests one expensive %s after another',
    async (_what, path, places) => {
      const lock = await relay.fixture.owner.connect();
      try {
        await lock.query('BEGIN; LOCK TABLE charges IN ACCESS EXCLUSIVE MODE');
        const ask = async (someone: Person) => {
          const response = await someone.send(path);
          await response.text();
          return response.status;
        };
        const asked = Array.from({ length: 30 }, () => ask(hostile));
        await until('its share to be at work', async () => (await atWork()) === places - 1);
        expect((await honest.api.GET('/api/account')).response.status).toBe(200);
        const own = ask(honest);
        await until('the place kept for another', async () => (await atWork()) === places);
        await lock.query('ROLLBACK');
        expect(await own).toBe(200);
        const statuses = await Promise.all(asked);
        expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(places - 1);
        // On a slow machine, the last of so many wait too long for their turn.
        expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
      } finally {
        lock.release();
      }
    },
  );

  it('leaves playground calls for others', async () => {
    const play = await Promise.all(
      [hostile, honest].map(async (someone) => {
        const { data } = await someone.api.POST('/api/keys', { body: { name: 'a', group: 'Vendora-Main' } });
        return (prompt: string) =>
          fetch(`${relay.consoleUrl}/api/playground/v1/images/generations`, {
            method: 'POST',
            headers: {
              ...someone.headers,
              'content-type': 'application/json',
              'x-tollgate-key': data!.keyId,
            },
            body: JSON.stringify({ model: 'vendora-imagine-image', prompt }),
          });
      }),
    );
    const [hog, guest] = play as [
      (prompt: string) => Promise<Response>,
      (prompt: string) => Promise<Response>,
    ];
    upstream.shut(/slow/);
    const slow = Array.from({ length: PLAYED - 1 }, () => hog('a slow boat'));
    await until('all of them to be in progress', async () => upstream.waiting === PLAYED - 1);
    const more = await hog('a boat');
    expect(more.status).toBe(429);
    expect(Number(more.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await guest('a boat')).status).toBe(200);
    upstream.open();
    for (const answer of await Promise.all(slow)) expect(answer.status).toBe(200);
  });

  it('leaves live connections for others', async () => {
    const streams: EventStream[] = [];
    const watch = async (someone: Person) => {
      const stream = await EventStream.open(`${relay.consoleUrl}/api/live`, {
        cookie: someone.headers.cookie,
      });
      streams.push(stream);
    };
    try {
      for (let opened = 0; opened < WATCHED - 1; opened += 1) await watch(hostile);
      const refused = await fetch(`${relay.consoleUrl}/api/live`, { headers: hostile.headers });
      expect(refused.status).toBe(429);
      await watch(honest);
    } finally {
      await Promise.all(streams.map((stream) => stream.close()));
    }
  });

  async function atWork(): Promise<number> {
    const { rows } = await relay.fixture.owner.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM pg_stat_activity WHERE datname = current_database()
       AND wait_event_type = 'Lock' AND query LIKE '%FROM (SELECT * FROM charges%'`,
    );
    return rows[0]?.count ?? 0;
  }
});
