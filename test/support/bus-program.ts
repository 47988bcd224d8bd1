import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { KafkaTransport } from '#bus/kafka/kafka.transport.js';
import { Registry } from '#platform/metrics.js';
import { listOfTestTopics, silent, startProgram, Till, tillController, type Ask } from './bus.js';

/** The one that kills itself has a short one, so that the survivor takes over soon. Brokers allow no less. */
const SESSION_TIMEOUT_MS = { killed: 6_000, survivor: 60_000 };

export interface KeptAnswers {
  brokers: string[];
  namespace: string;
  /** Replaces the database: one line per handled message, by id. */
  file: string;
  /** The program kills itself after it has stored the answer to this number, before it sends it. */
  killedBy?: number;
}

/** A program that records its work in a file, and does each piece only once, however often it is asked. */
export async function startKeeper({ brokers, namespace, file, killedBy }: KeptAnswers) {
  const till = new Till();
  till.work = async ({ id, number }: Ask) => {
    const kept = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    if (kept.includes(id)) return;
    appendFileSync(file, `${id}\n`);
    if (number === killedBy) process.kill(process.pid, 'SIGKILL');
  };
  const transport = new KafkaTransport({
    brokers,
    clientId: 'keeper',
    log: silent,
    registry: new Registry(),
    onFatal: () => process.exit(1),
    topics: listOfTestTopics,
    namespace,
    sessionTimeoutMs: killedBy === undefined ? SESSION_TIMEOUT_MS.survivor : SESSION_TIMEOUT_MS.killed,
    heartbeatIntervalMs: 500,
  });
  const program = await startProgram(transport, [tillController(till)], { groups: ['till'] });
  return { till, close: async () => (await program.close(), transport.close()) };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await startKeeper(JSON.parse(process.argv[2] ?? '') as KeptAnswers);
  process.stdout.write('ready\n');
}
