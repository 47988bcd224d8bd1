import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildxVariables, registryProgram } from './from-debian.js';
import { Registry } from './registry.js';

const run = promisify(execFile);
const SCRIPT = pathToFileURL(join(import.meta.dirname, '../../scripts/lib/release-image.mjs')).href;
/** Has a different name than in the Dockerfile, so that no tag of that image is lost. */
const OLD = 'tollgate-release-base:old';

const DOCKERFILE = `FROM BASE AS first
FROM first AS second
FROM BASE
ARG REVISION
LABEL revision=$REVISION
COPY --from=second /file /copy
`;

interface Named {
  name: string;
  sha256: string;
}
type Environment = Record<string, string>;
type Build = (
  of: { context: string; name: string; options: string[]; isPulled: boolean; isPushed: boolean },
  env: Environment,
) => Promise<{ image: Named; baseImages: Named[] }>;

describe.each([
  { builder: 'the classic builder', isBuildKit: false },
  { builder: 'BuildKit', isBuildKit: true },
])('a release image, built by $builder', ({ isBuildKit }) => {
  let why: string | undefined;
  let folder: string;
  let registry: Registry;
  let env: Environment;
  let base: string;
  let image: string;
  let old: string;
  let build: Build;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-release-image-'));
    const program = await programs().catch((error: Error) => {
      why = error.message;
    });
    if (program === undefined) return;
    ({ buildReleaseImage: build } = (await import(SCRIPT)) as { buildReleaseImage: Build });
    registry = await Registry.start(program, folder);
    base = `${registry.host}/base:1`;
    image = `${registry.host}/shop/tollgate:1.2.3`;
    old = await pushBase('old');
    await docker('tag', base, OLD);
    await pushBase('new');
    writeFileSync(join(folder, 'Dockerfile'), DOCKERFILE.replaceAll('BASE', base));
  });

  // The engine has an older one than the registry.
  beforeEach(async ({ task, skip }) => {
    if (why === undefined) {
      await docker('tag', OLD, base);
      return;
    }
    // `npm test` prints it at the end.
    Object.assign(task.meta, { leftOut: why });
    skip(why);
  });

  afterAll(async () => {
    try {
      await registry?.stop();
      if (registry) await docker('image', 'rm', '--force', ...(await imagesHere()), OLD);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('is built from what the registry has now, and is named by its registry digest once pushed', async () => {
    expect(await released({ isPulled: true, isPushed: true })).toEqual({
      image: { name: image, sha256: await registry.digestOf('shop/tollgate', '1.2.3') },
      baseImages: [{ name: base, sha256: await registry.digestOf('base', '1') }],
    });
    expect(await labelsOf(image)).toEqual({ made: 'new', revision: 'abc' });
  });

  it('is built from what the engine has if nothing is pulled, and is named by its ID in the engine', async () => {
    expect(await released({ isPulled: false, isPushed: false })).toEqual({
      image: { name: image, sha256: (await inspected(image, '{{.Id}}')).replace('sha256:', '') },
      baseImages: [{ name: base, sha256: old }],
    });
    expect(await labelsOf(image)).toEqual({ made: 'old', revision: 'abc' });
  });

  async function programs(): Promise<string> {
    env = { DOCKER_BUILDKIT: isBuildKit ? '1' : '0', ...(isBuildKit && (await buildxVariables())) };
    return registryProgram();
  }

  async function docker(...args: string[]): Promise<string> {
    return (await run('docker', args, { env: { ...process.env, DOCKER_BUILDKIT: '0' } })).stdout.trim();
  }

  /** Including images that have lost their tags. */
  async function imagesHere(): Promise<string[]> {
    const here = ['base', 'shop/tollgate'].flatMap((name) => [
      '--filter',
      `reference=${registry.host}/${name}`,
    ]);
    const ids = (await docker('image', 'ls', '--quiet', '--no-trunc', ...here)).split('\n');
    return [...new Set(ids.filter(Boolean))];
  }

  /** @returns its digest in the registry */
  async function pushBase(label: string): Promise<string> {
    const context = mkdtempSync(join(folder, 'base-'));
    writeFileSync(join(context, 'file'), label);
    writeFileSync(join(context, 'Dockerfile'), `FROM scratch\nLABEL made=${label}\nCOPY file /file\n`);
    await docker('build', '--quiet', '--tag', base, context);
    await docker('push', '--quiet', base);
    return registry.digestOf('base', '1');
  }

  const released = (how: { isPulled: boolean; isPushed: boolean }) =>
    build({ context: folder, name: image, options: ['--build-arg', 'REVISION=abc'], ...how }, env);

  const inspected = (name: string, format: string) => docker('image', 'inspect', '--format', format, name);

  const labelsOf = async (name: string): Promise<unknown> =>
    JSON.parse(await inspected(name, '{{json .Config.Labels}}'));
});
