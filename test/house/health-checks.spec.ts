import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const dockerfile = readFileSync(join(import.meta.dirname, '../../Dockerfile'), 'utf8');
const [, command] = /^HEALTHCHECK [^[]*(\[.*\])$/m.exec(dockerfile) ?? [];

/** Runs the image's check of a program whose health is served on this port. @returns its exit code */
function check(port: number): Promise<number> {
  const [program, ...words] = JSON.parse(command ?? '[]') as [string, ...string[]];
  const env = { PATH: process.env['PATH'], HEALTH_PORT: String(port) };
  return new Promise((resolve) => {
    const child = execFile(program, words, { env }, () => resolve(child.exitCode ?? -1));
  });
}

describe('the health check of the image', () => {
  let status = 200;
  let port = 0;
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(status).end('{}');
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => server.close());

  it('passes if the program says that it is ready', async () => {
    status = 200;
    expect(await check(port)).toBe(0);
    expect(asked).toEqual(['GET /health/ready']);
  });

  it.each([503, 500, 404])('fails if the program answers %i', async (answer) => {
    status = answer;
    expect(await check(port)).toBe(1);
  });

  it('fails if nothing listens', async () => {
    const gone = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => gone.once('listening', resolve));
    const { port: free } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    expect(await check(free)).toBe(1);
  });
});
