// Three Apache Kafka brokers, of which one may die: each has a copy of everything, and two confirm each write.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveKafka } from './kafka-broker.mjs';
import { freePorts } from './free-ports.mjs';
import { LocalBroker } from './kafka-local.mjs';

const IDS = [1, 2, 3];
const HEAP = '256m';

/**
 * @param {(id: number, port: number) => Promise<string>} [wayTo] opens a proxy to a broker's port and returns its
 *   address; brokers reach each other without it
 * @throws NoKafka if Apache Kafka cannot be had
 */
export async function startKafkaCluster(wayTo) {
  const kafka = await resolveKafka(() => undefined);
  const ports = await freePorts(3 * IDS.length);
  const nodes = IDS.map((id) => ({ id, port: ports.pop(), controllerPort: ports.pop() }));
  for (const node of wayTo ? nodes : []) {
    const port = ports.pop();
    node.way = { port, address: await wayTo(node.id, port) };
  }
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-kafka-'));
  const members = nodes.map(({ id }) => {
    const cluster = { id, nodes, name: folder, heap: HEAP };
    return new LocalBroker({ dataDir: join(folder, String(id)), kafka, cluster });
  });
  const cluster = new KafkaCluster(folder, members);
  try {
    await Promise.all(members.map((member) => member.start()));
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
}

class KafkaCluster {
  #folder;
  #members;

  constructor(folder, members) {
    this.#folder = folder;
    this.#members = members;
  }

  /** host:port of each. */
  get brokers() {
    return this.#members.flatMap(({ brokers }) => brokers);
  }

  get ids() {
    return IDS;
  }

  /** The broker that assigns leaders, as last known to the others. */
  controller() {
    const known = IDS.map((id) => {
      const file = join(this.#folder, String(id), 'log', '__cluster_metadata-0', 'quorum-state');
      return JSON.parse(readFileSync(file, 'utf8'));
    });
    const [newest] = known.sort((one, other) => other.leaderEpoch - one.leaderEpoch);
    return newest.leaderId;
  }

  signal(id, signal) {
    process.kill(this.#member(id).pid, signal);
  }

  /** Restarts a killed broker with its data. */
  restart(id) {
    return this.#member(id).restart();
  }

  /** No data is kept, so the brokers need not stop in order. */
  async stop() {
    for (const { pid } of this.#members) if (pid !== undefined) this.#end(pid);
    await Promise.all(this.#members.map((member) => member.stop()));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #end(pid) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It was killed before.
    }
  }

  #member(id) {
    return this.#members[IDS.indexOf(id)];
  }
}
