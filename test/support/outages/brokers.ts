import { type KafkaCluster, openKafkaCluster } from '../kafka-cluster.js';
import { TcpSwitch } from '../tcp-switch.js';
import type { Undo } from './undo.js';

/** Brokers that programs reach through switches, while brokers reach each other directly. */
export interface SwitchedBrokers {
  cluster: KafkaCluster;
  /** In the order of the brokers' ids. */
  ways: readonly TcpSwitch[];
  /** The addresses by which programs know the brokers. */
  addresses: readonly string[];
}

/** Programs know each broker by its host name and the port of a switch. */
export async function startBrokers(undo: Undo, hostOf: (id: number) => string): Promise<SwitchedBrokers> {
  const ways: TcpSwitch[] = [];
  const addresses: string[] = [];
  const wayTo = async (id: number, port: number) => {
    const way = await undo.during(
      () => TcpSwitch.open({ host: '127.0.0.1', port }),
      (opened) => opened.close(),
    );
    ways.push(way);
    addresses.push(`${hostOf(id)}:${way.port}`);
    return addresses.at(-1)!;
  };
  const cluster = await undo.during(
    () => openKafkaCluster(wayTo),
    (started) => started.stop(),
  );
  return { cluster, ways, addresses };
}
