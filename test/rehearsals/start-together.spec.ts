import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { KafkaConnection } from '#bus/kafka/kafka.connection.js';
import { createLogger } from '#platform/logging.js';
import { createRegistry } from '#platform/metrics.js';
import { openKafkaCluster } from '../support/kafka-cluster.js';
import { ensureBuilt } from '../support/programs.js';

/** Needs more than one broker: each answers from its own view of the topics, and answers overtake each other. */
const PROGRAMS = 12;

beforeAll(() => ensureBuilt());

it('programs that start together on three brokers all find their topics, new or old', async () => {
  const cluster = await openKafkaCluster();
  onTestFinished(() => cluster.stop());
  for (const topicsAre of ['new', 'old']) {
    const programs = Array.from({ length: PROGRAMS }, () => connectionTo(cluster.brokers));
    const started = await Promise.allSettled(programs.map((program) => program.connect()));
    await Promise.all(programs.map((program) => program.close()));
    const faults = started.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    expect(faults, `with ${topicsAre} topics`).toEqual([]);
  }
});

function connectionTo(brokers: readonly string[]): KafkaConnection {
  return new KafkaConnection({
    brokers,
    clientId: 'together',
    log: createLogger('together', 'silent'),
    registry: createRegistry('together'),
    onFatal: () => undefined,
  });
}
