import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const IMAGE = 'tollgate-release:test';
const NODE = 'node:24-bookworm-slim';
const LOCKFILES = ['package-lock.json', 'docs/package-lock.json', 'apps/console/package-lock.json'];
const BUILDER = 'https://ci.example.com/tollgate';
/** The image may be built from scratch, on a machine that may be busy. */
const BUILD_LIMIT_MS = 1_800_000;

const uri = z.string().regex(/^[a-z][a-z0-9+.-]*:\S+$/);
const digest = z.strictObject({
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  gitCommit: z
    .string()
    .regex(/^[0-9a-f]{40}$/)
    .optional(),
});
/** https://slsa.dev/spec/v1.0/provenance, and what it uses from in-toto. */
const Provenance = z.strictObject({
  _type: z.literal('https://in-toto.io/Statement/v1'),
  subject: z.array(z.strictObject({ name: z.string().min(1), digest })).min(1),
  predicateType: z.literal('https://slsa.dev/provenance/v1'),
  predicate: z.strictObject({
    buildDefinition: z.strictObject({
      buildType: uri,
      externalParameters: z.record(z.string(), z.unknown()),
      internalParameters: z.record(z.string(), z.unknown()),
      resolvedDependencies: z.array(
        z.strictObject({
          name: z.string().optional(),
          uri: uri.optional(),
          digest,
          annotations: z.record(z.string(), z.unknown()).optional(),
        }),
      ),
    }),
    runDetails: z.strictObject({
      builder: z.strictObject({ id: uri }),
      metadata: z.strictObject({
        invocationId: z.string(),
        startedOn: z.iso.datetime(),
        finishedOn: z.iso.datetime(),
      }),
    }),
  }),
});

describe('npm run release', () => {
  let folder: string;
  let statement: z.infer<typeof Provenance>;

  const docker = (...args: string[]) =>
    run('docker', args, { env: { ...process.env, DOCKER_BUILDKIT: '0' } });
  /** The first digest in what the engine says about an image. */
  const digestOf = async (image: string, format: string) => {
    const { stdout } = await docker('image', 'inspect', '--format', format, image);
    return /sha256:(\w+)/.exec(stdout)![1];
  };
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-release-'));
    // A stand-in for the image cannot be pulled.
    await docker('pull', '--quiet', NODE).catch(() => undefined);
    const image = ['--image', IMAGE, '--no-pull'];
    const options = ['--out', folder, ...image, '--builder', BUILDER, '--allow-changes'];
    await run(process.execPath, ['scripts/release.mjs', ...options, '--', '--network', 'host'], {
      cwd: root,
      env: { ...process.env, DOCKER_BUILDKIT: '0', NODE_ENV: undefined },
    });
    statement = Provenance.parse(JSON.parse(read('provenance.json')));
  }, BUILD_LIMIT_MS);

  afterAll(async () => {
    await docker('image', 'rm', IMAGE);
    rmSync(folder, { recursive: true, force: true });
  });

  it('names the package, its materials and the image by their real digests', async () => {
    const digests = Object.fromEntries(statement.subject.map(({ name, digest: of }) => [name, of.sha256]));
    const file = Object.keys(digests).find((name) => name.endsWith('.tgz'))!;
    expect(digests).toEqual({
      [file]: sha256Of(join(folder, file)),
      'sbom.json': sha256Of(join(folder, 'sbom.json')),
      [IMAGE]: await digestOf(IMAGE, '{{.Id}}'),
    });
  });

  it('says what they were built from, by whom and how', async () => {
    const { buildDefinition, runDetails } = statement.predicate;
    const { stdout } = await run('git', ['-C', root, 'rev-parse', 'HEAD']);
    const sources = buildDefinition.resolvedDependencies.map(({ name, uri: at, digest: of }) => [
      name ?? at,
      of,
    ]);
    expect(sources).toEqual([
      ['source', { gitCommit: stdout.trim() }],
      [`docker://${NODE}`, { sha256: await digestOf(NODE, '{{.RepoDigests}} {{.Id}}') }],
      ...LOCKFILES.map((name) => [name, { sha256: sha256Of(join(root, name)) }]),
    ]);
    expect(buildDefinition.externalParameters).toEqual({
      image: IMAGE,
      pull: false,
      push: false,
      buildOptions: ['--network', 'host'],
    });
    expect(runDetails.builder.id).toBe(BUILDER);
  });

  it('builds an image that names the same commit', async () => {
    const label = '{{index .Config.Labels "org.opencontainers.image.revision"}}';
    const { stdout } = await docker('image', 'inspect', '--format', label, IMAGE);
    expect(statement.predicate.buildDefinition.resolvedDependencies[0]!.digest.gitCommit).toBe(stdout.trim());
  });

  it('lists the package’s libraries, and none of its tools', () => {
    const { components } = JSON.parse(read('sbom.json')) as { components: { name: string }[] };
    const names = components.map(({ name }) => name);
    expect(names).toContain('fastify');
    expect(names).not.toContain('vitest');
  });
});

function sha256Of(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
