// Keeps a program running as compose does with `restart: unless-stopped`: if it ends, it is restarted.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodePath } from './bootstrap.mjs';
import { nodeFlags } from './clone.mjs';
import { exitOf, guard } from './children.mjs';

/** Pauses before restarts double from the first to the longest, and start over after a while without a crash. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
const STEADY_AFTER_MS = 10_000;

/** Longer than any program takes to stop by itself. */
const STOP_LIMIT_MS = 50_000;

export class Program {
  #child;
  #timer;
  #stopping = false;
  #pauseMs = FIRST_PAUSE_MS;

  /**
   * @param {object} options
   * @param {string} options.name
   * @param {string} options.entry the built program
   * @param {() => string} options.root the clone that it runs from, asked at every start
   * @param {() => NodeJS.ProcessEnv} options.environment asked at every start
   * @param {string} options.logFile its output is appended here
   * @param {(event: 'started' | 'ended', program: Program, code?: number) => void} options.on
   */
  constructor(options) {
    this.options = options;
    this.name = options.name;
  }

  /** null while it is down. */
  get pid() {
    return this.#isAlive() ? this.#child.pid : null;
  }

  start() {
    const { entry, environment, logFile, on } = this.options;
    const root = this.options.root();
    const log = openSync(logFile, 'a', 0o600);
    const startedAt = performance.now();
    const child = spawn(nodePath(), [...nodeFlags, join(root, entry)], {
      cwd: root,
      env: environment(),
      stdio: ['ignore', log, log],
      // In a separate group: a Ctrl-C reaches the script, which stops the programs in order.
      detached: true,
    });
    closeSync(log);
    this.#child = child;
    const lift = guard(child.pid ?? 0);
    on('started', this);
    exitOf(child)
      .catch(() => 127)
      .then((code) => {
        lift();
        on('ended', this, code);
        if (this.#stopping) return;
        if (performance.now() - startedAt > STEADY_AFTER_MS) this.#pauseMs = FIRST_PAUSE_MS;
        this.#timer = setTimeout(() => this.start(), this.#pauseMs);
        this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
      });
  }

  async stop() {
    this.#stopping = true;
    clearTimeout(this.#timer);
    if (!this.#isAlive()) return;
    const gone = exitOf(this.#child);
    this.#child.kill('SIGTERM');
    const impatience = setTimeout(() => this.#child.kill('SIGKILL'), STOP_LIMIT_MS);
    await gone;
    clearTimeout(impatience);
  }

  /** The last line of its output, or the first line of the error at its end, to say why it is not running. */
  lastWords() {
    const { logFile } = this.options;
    if (!existsSync(logFile)) return '';
    const lines = readFileSync(logFile, 'utf8').trim().split('\n');
    return lines.findLast((line) => !/^[\s}]/.test(line)) ?? '';
  }

  #isAlive() {
    const child = this.#child;
    return child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
  }
}
