import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A part of an API to send generated requests to. */
export interface Fuzzed {
  /** The OpenAPI document, and the address of its server. */
  document: object;
  baseUrl: string;
  headers: Record<string, string>;
  /** The most requests per operation. */
  examples: number;
  /** Operations to skip, because they never end, or end the session that the others need. */
  leftOut?: readonly string[];
}

export interface FuzzResult {
  requests: number;
  /** The program's output, with a curl line for each failure. */
  output: string;
  code: number | null;
}

const SEED = Number(process.env['FUZZ_SEED'] ?? 1 + (Date.now() % 1_000_000));

/** What every answer must be: no fault of ours, and as the document describes it. */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
];

/** Sends requests that the document allows and requests that it forbids, and checks each answer against it. */
export async function fuzz(target: Fuzzed): Promise<FuzzResult> {
  const program = process.env['TOLLGATE_FUZZER'];
  if (!program)
    throw new Error('TOLLGATE_FUZZER is not set: npm test -- --only attacks installs it and sets it.');
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-fuzz-'));
  try {
    const document = join(folder, 'openapi.json');
    await writeFile(document, JSON.stringify(halfOf(target.document)));
    const child = spawn(program, argumentsOf(target, document), {
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: folder,
      // It reads each variable twice per request, in search of a proxy: with all of ours, a seventh of its time.
      env: { PATH: process.env['PATH'] },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part: Buffer) => (output += String(part)));
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    return { requests: countRequests(output), output, code };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function argumentsOf({ baseUrl, headers, examples, leftOut = [] }: Fuzzed, document: string): string[] {
  return [
    'run',
    document,
    `--url=${baseUrl}`,
    `--checks=${CHECKS.join(',')}`,
    `--max-examples=${examples}`,
    `--seed=${SEED}`,
    '--phases=examples,coverage,fuzzing',
    '--generation-allow-x00=true',
    '--generation-database=none',
    '--request-timeout=60',
    '--continue-on-failure',
    '--suppress-health-check=all',
    '--no-shrink',
    '--no-color',
    '--warnings=off',
    ...Object.entries(headers).map(([name, value]) => `--header=${name}:${value}`),
    ...leftOut.map((id) => `--exclude-operation-id=${id}`),
  ];
}

/** A run asks every second path, the seed says which. With FUZZ_ALL=1 it asks all. */
function halfOf(document: object): object {
  if (process.env['FUZZ_ALL'] === '1') return document;
  const { paths } = document as { paths: object };
  const half = Object.entries(paths).filter((_, index) => index % 2 === SEED % 2);
  return { ...document, paths: Object.fromEntries(half) };
}

/** From the summary at its end: "14031 generated, 14031 passed". */
function countRequests(output: string): number {
  return Number(/^\s*(\d+) generated/m.exec(output)?.[1] ?? 0);
}

/**
 * A copy of a document that restricts every request property of this name to these values, so that most requests pass
 * its check. Answers stay unchanged, since they may repeat what was sent under another name.
 */
export function withValues(document: object, name: string, values: readonly string[]): object {
  const entries = Object.entries(document).map(([key, value]: [string, unknown]) => {
    if (key === name && isTextSchema(value)) return [key, { ...value, enum: values }];
    const isSent = key !== 'responses' && typeof value === 'object' && value !== null;
    return [key, isSent ? withValues(value, name, values) : value];
  });
  return Array.isArray(document) ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}

function isTextSchema(value: unknown): value is object {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'string';
}

export async function openApiOf(url: string): Promise<object> {
  return (await (await fetch(url)).json()) as object;
}

/** @throws Error with the seed, if a check failed or fewer requests were sent */
export function expectNoFailure({ requests, code, output }: FuzzResult, leastRequests: number): void {
  process.stderr.write(`${requests} generated requests, FUZZ_SEED=${SEED}\n`);
  if (code !== 0) throw new Error(`FUZZ_SEED=${SEED} failed:\n${output.slice(-20_000)}`);
  if (requests < leastRequests) throw new Error(`FUZZ_SEED=${SEED}: fewer than ${leastRequests} requests`);
}
