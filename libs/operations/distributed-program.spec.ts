import { Kafka, logLevel } from 'kafkajs';
import pg from 'pg';
import { expect, it } from 'vitest';
import { startSentence } from './distributed-program.js';

/** Nobody listens there. */
const NOWHERE = '127.0.0.1:1';

it('a program that cannot start says what it cannot reach', async () => {
  const kafka = new Kafka({ brokers: [NOWHERE], logLevel: logLevel.NOTHING, retry: { retries: 0 } });
  const noBroker = await kafka.admin().connect().catch(startSentence);
  expect(noBroker).toMatch(/^Kafka cannot be reached: .*ECONNREFUSED/);
  const client = new pg.Client({ connectionString: `postgresql://someone@${NOWHERE}/tollgate` });
  expect(await client.connect().catch(startSentence)).toMatch(/^The database cannot be reached: /);
});
