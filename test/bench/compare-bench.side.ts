import { pathToFileURL } from 'node:url';
import type { Children as ChildrenClass } from './children.js';
import type { BenchRelay as BenchRelayClass, Books, Mode } from './gateway-bench.relay.js';
import type { ProcessGroup } from './memory.js';

/**
 * A relay of the commit whose folder this process runs in, started and filled by that commit's own code, since its
 * schema and rules may differ from ours. It receives its orders as messages, and ends with its parent.
 */
export interface SideOrder {
  mode: Mode;
  upstreamUrl: string;
  accounts: number;
}

export interface SideReady {
  baseUrl: string;
  apiKeys: string[];
  processes: ProcessGroup[];
}

const built = (module: string) =>
  import(new URL(`dist/test/bench/${module}.js`, pathToFileURL(`${process.cwd()}/`)).href);

const { Children } = (await built('children')) as { Children: typeof ChildrenClass };
const { BenchRelay } = (await built('gateway-bench.relay')) as { BenchRelay: typeof BenchRelayClass };

const children = new Children();
let relay: BenchRelayClass | undefined;

process.on('message', (message: SideOrder | 'books') => {
  void (message === 'books' ? books() : start(message)).then((answer) => process.send?.(answer));
});
process.on('disconnect', () => void stop());
process.on('SIGTERM', () => void stop());
// Ctrl-C in the terminal reaches the whole group. The parent ends its children in order.
process.on('SIGINT', () => undefined);

async function start({ mode, upstreamUrl, accounts }: SideOrder): Promise<SideReady> {
  relay = await BenchRelay.start(mode, upstreamUrl, children);
  const apiKeys = await relay.openAccounts(accounts);
  return { baseUrl: relay.baseUrl, apiKeys, processes: relay.processes };
}

async function books(): Promise<Books> {
  if (!relay) throw new Error('no relay was started');
  return relay.books();
}

async function stop(): Promise<void> {
  await relay?.stop();
  await children.stopAll();
  process.exit(0);
}
