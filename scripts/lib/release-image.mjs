// A release's image, built from base images by their digests, so that the provenance names what was used.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from './containers/run.mjs';

/** What each stage of a Dockerfile starts from, and the stage's name. */
const FROM = /^FROM (\S+)(?: AS (\S+))?/gm;

/**
 * @typedef {import('./provenance.mjs').Named} Named
 *
 * @param {object} of
 * @param {string} of.context the folder of the Dockerfile
 * @param {string} of.name of the image
 * @param {string[]} of.options of docker build
 * @param {boolean} of.isPulled whether base images are pulled, or are those that the engine has
 * @param {boolean} of.isPushed whether the image is pushed
 * @param {Record<string, string>} [env] of the engine
 * @returns {Promise<{ image: Named, baseImages: Named[] }>}
 * @throws Error if the engine does not know the digest of an image that it pulled or pushed
 */
export async function buildReleaseImage({ context, name, options, isPulled, isPushed }, env = {}) {
  const docker = (...args) => runCommand(['docker', ...args], { env });
  const dockerfile = readFileSync(join(context, 'Dockerfile'), 'utf8');
  const baseImages = [];
  for (const base of baseImagesOf(dockerfile)) {
    if (isPulled) await docker('pull', '--quiet', base);
    baseImages.push(await digestsOf(base, docker, { isInRegistry: isPulled }));
  }
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-release-image-'));
  try {
    const file = join(folder, 'Dockerfile');
    writeFileSync(file, pinned(dockerfile, baseImages));
    await docker('build', '--quiet', '--file', file, '--tag', name, ...options, context);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (isPushed) await docker('push', '--quiet', name);
  const { id, registry } = await digestsOf(name, docker, { isInRegistry: isPushed });
  return {
    image: { name, sha256: isPushed ? registry : id },
    baseImages: baseImages.map((base) => ({ name: base.name, sha256: base.registry ?? base.id })),
  };
}

/** The images that a Dockerfile starts from, without its own stages. */
function baseImagesOf(dockerfile) {
  const stages = [...dockerfile.matchAll(FROM)];
  const own = stages.map(([, , stage]) => stage);
  return [...new Set(stages.map(([, image]) => image).filter((image) => !own.includes(image)))];
}

/** An image without a registry digest was made on this machine, where the engine knows it by name. */
function pinned(dockerfile, baseImages) {
  const digests = new Map(baseImages.map(({ name, registry }) => [name, registry]));
  return dockerfile.replace(FROM, (line, image) => {
    const digest = digests.get(image);
    return digest === undefined ? line : line.replace(image, `${image.split('@')[0]}@sha256:${digest}`);
  });
}

/**
 * `id` is the engine's own, and depends on how it stores images. `registry` is a registry's, if the image came from one
 * or went there.
 */
async function digestsOf(name, docker, { isInRegistry }) {
  const [{ Id, RepoDigests }] = JSON.parse(await docker('image', 'inspect', name));
  const repository = shortName(name.replace(/@.*$/, '').replace(/:[^:/]*$/, ''));
  const known = (RepoDigests ?? []).find((digest) => shortName(digest).startsWith(`${repository}@`));
  if (isInRegistry && known === undefined)
    throw new Error(`The engine does not know the digest of ${name} in its registry.`);
  return { name, id: sha256(Id), registry: known && sha256(known) };
}

/** The name as Docker shows it. Podman shows `docker.io/library/` too. */
function shortName(name) {
  return name.replace(/^docker\.io\/(library\/)?/, '');
}

/** The hash in `sha256:…`, even after a name, or in a Podman ID, which has no prefix. */
function sha256(digest) {
  return digest.replace(/^.*sha256:/, '');
}
