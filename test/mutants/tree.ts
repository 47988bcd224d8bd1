import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { endWithThisProcess } from '../support/children.js';
import { type Mutant, withFault } from './mutant.js';

const ROOT = join(import.meta.dirname, '../..');
const REPORTER = './scripts/lib/test-report.mjs';
const NOT_COPIED = new Set(['node_modules', 'dist', 'dist.new', 'dist.old', '.git', '.cache', '.data']);
/** The seeds of specs with random steps, so that results can be reproduced. */
const SEEDS = { LEDGER_SEED: '1', MONEY_SEED: '1' };

/** Tests of one spec. Without names, all of them. */
export interface Tests {
  readonly spec: string;
  readonly names: readonly string[];
}

interface SpecResult {
  passed: number;
  failed: number;
  /** Why it could not run. */
  broken: string | null;
}

interface Report {
  ran: number;
  passed: number;
  failures: { message: string }[];
}

/** A copy of the current sources, in which faults are planted one after the other. */
export class Tree {
  private running: { stop(): Promise<void> } | undefined;
  private isOver = false;

  private constructor(private readonly folder: string) {}

  static async copy(): Promise<Tree> {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-mutants-'));
    const filter = (path: string) => !NOT_COPIED.has(basename(path));
    await cp(ROOT, join(folder, 'sources'), { recursive: true, filter });
    await symlink(join(ROOT, 'node_modules'), join(folder, 'sources', 'node_modules'));
    return new Tree(folder);
  }

  async remove(): Promise<void> {
    this.isOver = true;
    await this.running?.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Runs tests with a fault in the sources, then restores them. */
  async withMutant(mutant: Mutant, tests: Tests): Promise<SpecResult> {
    const path = join(this.sources, mutant.file);
    const source = await readFile(path, 'utf8');
    await writeFile(path, withFault(source, mutant));
    try {
      return await this.run(tests);
    } finally {
      if (!this.isOver) await writeFile(path, source);
    }
  }

  async run({ spec, names }: Tests): Promise<SpecResult> {
    if (this.isOver) throw new Error('the run was stopped');
    const output = join(this.folder, 'result.json');
    await rm(output, { force: true });
    const vitest = [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--maxWorkers=1',
      `--reporter=${REPORTER}`,
      spec,
    ];
    const chosen = names.length === 0 ? [] : ['-t', names.map(asPattern).join('|')];
    const printed = await this.runToEnd([...vitest, ...chosen, `--outputFile=${output}`]);
    return readResult(await readFile(output, 'utf8').catch(() => null), printed);
  }

  private get sources(): string {
    return join(this.folder, 'sources');
  }

  /** @returns its standard error */
  private async runToEnd(args: readonly string[]): Promise<string> {
    const child = spawn(process.execPath, args, {
      cwd: this.sources,
      env: { ...SEEDS, ...process.env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let printed = '';
    child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    const ended = once(child, 'close');
    const lift = endWithThisProcess(child.pid ?? 0, 'TERM');
    const stop = async () => {
      child.kill('SIGTERM');
      await ended;
    };
    this.running = { stop };
    await ended;
    this.running = undefined;
    await lift();
    return printed;
  }
}

function readResult(text: string | null, printed: string): SpecResult {
  if (text === null) return { passed: 0, failed: 0, broken: printed.trim() || 'no result was written' };
  const { ran, passed, failures } = JSON.parse(text) as Report;
  // What a spec reports at its end, such as a ledger that is not clean, fails it like a failed test.
  if (ran > 0) return { passed, failed: failures.length, broken: null };
  return { passed, failed: 0, broken: failures[0]?.message ?? 'no test has run' };
}

/** Names are parsed as regular expressions. */
function asPattern(name: string): string {
  return name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
