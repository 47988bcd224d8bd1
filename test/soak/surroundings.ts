import { tmpdir } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { JumpingClock } from '../support/outages/clock.js';
import { Disk } from '../support/outages/disk.js';
import { GreedyClient } from '../support/outages/greedy-client.js';
import { type Resolver, startResolver } from '../support/outages/resolver.js';
import type { Undo } from '../support/outages/undo.js';
import { SANDBOX_API_KEY, startUpstream, type SwitchedUpstream } from '../support/outages/upstream.js';
import type { Environment } from '../support/programs.js';
import type { TcpSwitch } from '../support/tcp-switch.js';
import type { Kind, Strike } from './schedule.js';

const UPSTREAM = 'upstream.test';
const HOUR_S = 3_600;
const DELAY_MS = 100;

/** Causes a fault, and ends it. @returns the start of recovery, by performance.now() */
export type Fault = (strike: Strike) => Promise<number>;

/** What the programs of both modes depend on, except for databases and brokers. */
export class Surroundings {
  /** Where data is kept: on a disk that can be filled, if there is one. */
  folder = tmpdir();
  /** A command that runs the programs. */
  under: readonly string[] = [];
  readonly env: Environment;
  readonly missing = new Map<Kind, string>();
  private disk: Disk | undefined;
  private clock: JumpingClock | undefined;
  private resolver: Resolver | undefined;

  private constructor(
    private readonly undo: Undo,
    private readonly upstream: SwitchedUpstream,
  ) {
    this.env = { SANDBOX_API_KEY };
  }

  /** @param names what programs look up, besides the upstream */
  static async open(undo: Undo, names: readonly string[]): Promise<Surroundings> {
    const opened = new Surroundings(undo, await startUpstream(undo));
    await opened.attempt('disk', async () => opened.useDisk(Disk.open(undo)));
    await opened.attempt('clock', async () => opened.useClock(new JumpingClock(undo)));
    await opened.attempt('names', async () =>
      opened.useResolver(await startResolver(undo, [...names, UPSTREAM])),
    );
    opened.env['SANDBOX_URL'] = `http://${opened.hostOf(UPSTREAM)}:${opened.upstream.way.port}`;
    return opened;
  }

  get sandboxUrl(): string {
    return this.upstream.url;
  }

  /** The name, or the address if programs cannot look up names. */
  hostOf(name: string): string {
    return this.resolver ? name : '127.0.0.1';
  }

  /** @param ways to everything else that programs look up */
  faults({ server, ways, healthUrls }: Neighbours): Partial<Record<Kind, Fault>> {
    const { way } = this.upstream;
    const greedy = new GreedyClient(server);
    return {
      ...networkFaults('upstream', way),
      pools: lasting(
        async () => {
          // Undone before the programs stop, because they have started by now.
          this.undo.add(() => greedy.free());
          await greedy.takeAll();
        },
        () => greedy.free(),
      ),
      disk: lasting(
        async () => this.disk?.fill(),
        async () => this.disk?.free(),
      ),
      clock: lasting(
        ({ draw }) => this.setClock(draw < 0.5 ? HOUR_S : -HOUR_S, healthUrls),
        () => this.setClock(0, healthUrls),
      ),
      names: lasting(
        async () => {
          this.resolver?.names.silence();
          for (const each of [way, ...ways]) each.cut();
        },
        async () => this.resolver?.names.speak(),
      ),
    };
  }

  private async setClock(offsetS: number, healthUrls: readonly string[]): Promise<void> {
    await this.clock?.jumpTo(offsetS, healthUrls);
  }

  private async attempt(kind: Kind, open: () => Promise<void>): Promise<void> {
    await open().catch((error: Error) => this.missing.set(kind, error.message));
  }

  private useDisk(disk: Disk): void {
    this.disk = disk;
    this.folder = disk.folder;
  }

  private useClock(clock: JumpingClock): void {
    this.clock = clock;
    Object.assign(this.env, clock.environment);
  }

  private useResolver(resolver: Resolver): void {
    this.resolver = resolver;
    this.under = resolver.under;
  }
}

interface Neighbours {
  server: ConstructorParameters<typeof GreedyClient>[0];
  ways: readonly TcpSwitch[];
  healthUrls: readonly string[];
}

/** What a network does to connections through a switch. */
export function networkFaults(what: 'upstream' | 'postgres', way: TcpSwitch): Partial<Record<Kind, Fault>> {
  return {
    [`${what}-cut`]: async () => {
      way.cut();
      return performance.now();
    },
    [`${what}-slow`]: lasting(
      async () => way.delay(DELAY_MS),
      async () => way.delay(0),
    ),
    [`${what}-silent`]: lasting(
      async () => way.silence(),
      async () => way.speak(),
    ),
  };
}

export function lasting(
  begin: (strike: Strike) => Promise<unknown>,
  end: (strike: Strike) => Promise<unknown>,
): Fault {
  return async (strike) => {
    try {
      await begin(strike);
      await pause(strike.seconds * 1_000);
    } finally {
      await end(strike);
    }
    return performance.now();
  };
}
