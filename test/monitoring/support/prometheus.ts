import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';

/** `npm test` sets where the programs are. To run a spec alone, have them on the PATH. */
function program(name: 'prometheus' | 'promtool'): string {
  return join(process.env['TOLLGATE_PROMETHEUS'] ?? '', name);
}

/** The output of promtool. @throws Error with what it found wrong, or if it is not installed */
export function promtool(...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program('promtool'), args, { encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0) throw new Error(`promtool ${args.join(' ')}\n${stdout}${stderr}`);
  return stdout;
}

interface PrometheusOptions {
  /** A file pattern. */
  rules: string;
  /** Targets to scrape every second. */
  targetPort: number;
  consoleUrl: string;
}

/** A Prometheus for one spec. */
export interface Prometheus {
  /** The `data` of an API response. @throws Error with Prometheus's message */
  ask<T>(path: string, query?: Record<string, string>): Promise<T>;
  stop(): Promise<void>;
}

/** Starts Prometheus in a separate folder, and waits until it is ready. */
export async function startPrometheus(options: PrometheusOptions): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-prometheus-'));
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(configuration(options)));
  const port = await freePort();
  const log: string[] = [];
  const child = spawn(
    program('prometheus'),
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
      '--enable-feature=exemplar-storage',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  child.stderr.on('data', (chunk: Buffer) => log.push(chunk.toString()));
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async () => {
    child.kill('SIGTERM');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  try {
    await until('Prometheus', isReady, { state: () => log.join('') });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    ask: (path, query = {}) => ask(`${url}/api/v1/${path}?${new URLSearchParams(query).toString()}`),
    stop,
  };
}

function configuration({ rules, targetPort, consoleUrl }: PrometheusOptions): object {
  const timing = { scrape_interval: '1s', evaluation_interval: '1s' };
  return {
    global: { ...timing, external_labels: { console: consoleUrl } },
    rule_files: [rules],
    scrape_configs: [{ job_name: 'tollgate', static_configs: [{ targets: [`127.0.0.1:${targetPort}`] }] }],
  };
}

async function ask<T>(url: string): Promise<T> {
  const response = await fetch(url);
  const body = (await response.json()) as { status: string; error?: string; data: T };
  if (body.status !== 'success') throw new Error(`${url}: ${body.error}`);
  return body.data;
}
