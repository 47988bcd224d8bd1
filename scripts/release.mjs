// `npm run release`: the npm package and the image of a commit, with what is in them and where they came from.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { prepare, underPinnedNode } from './lib/bootstrap.mjs';
import { giveUp, root, say } from './lib/clone.mjs';
import { runCommand } from './lib/containers/run.mjs';
import { provenance, sha256Of } from './lib/provenance.mjs';
import { buildReleaseImage } from './lib/release-image.mjs';

const HELP = `Builds the npm package and the image of this commit, and writes what they are made of beside them.

Usage: npm run release -- [--out DIR] [--image NAME] [--no-pull] [--push] [--builder URI] [--allow-changes] [--help] [-- BUILD_OPTIONS]

  --out DIR         where to (.data/release)
  --image NAME      also builds the image, with this name, by docker
  --no-pull         from the base images that docker has, without pulling them
  --push            also pushes the image; the provenance then has its digest in the registry
  --builder URI     who builds, as the provenance names it (urn:tollgate:builder:local)
  --allow-changes   also where something is not committed; the provenance says so
  -- BUILD_OPTIONS  given to docker build, such as: -- --network host

Writes the package, sbom.json (CycloneDX: the package's libraries) and provenance.json (in-toto, SLSA 1.0: the digests of
package and image, the commit, the base images and the lockfiles). Sign provenance.json with a key that your users know.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: 'string', default: join(root, '.data', 'release') },
    image: { type: 'string' },
    'no-pull': { type: 'boolean', default: false },
    push: { type: 'boolean', default: false },
    builder: { type: 'string', default: 'urn:tollgate:builder:local' },
    'allow-changes': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
/** It would be built from base images that no digest fixes. */
const OTHER_DOCKERFILE = /^(-q?f|--file(=|$))/;
const LOCKFILES = ['package-lock.json', 'docs/package-lock.json', 'apps/console/package-lock.json'];

if (values.help) {
  process.stdout.write(HELP);
} else {
  await prepare({ build: false });
  await underPinnedNode();
  try {
    await release(resolve(values.out));
  } catch (error) {
    giveUp(error.message);
  }
}

async function release(folder) {
  if (values.push && values.image === undefined) giveUp('--push needs --image.');
  if (positionals.some((option) => OTHER_DOCKERFILE.test(option))) {
    giveUp(
      'A release is built from the Dockerfile here. Leave out --file, and commit what you need to Dockerfile instead.',
    );
  }
  const startedOn = new Date();
  const source = await commit();
  if (source.isChanged && !values['allow-changes'])
    giveUp('Something here is not committed. Commit it, or see npm run release -- --help.');
  await prepare();
  mkdirSync(folder, { recursive: true });
  const file = await pack(folder);
  writeFileSync(join(folder, 'sbom.json'), await npm('sbom', '--omit=dev', '--sbom-format=cyclonedx'));
  const subjects = [file, 'sbom.json'].map((name) => ({ name, sha256: sha256Of(join(folder, name)) }));
  const built = values.image === undefined ? null : await buildImage(source.commit);
  if (built !== null) subjects.push(built.image);
  const statement = provenance({
    subjects,
    source,
    baseImages: built?.baseImages ?? [],
    lockfiles: LOCKFILES.map((name) => ({ name, sha256: sha256Of(join(root, name)) })),
    parameters: {
      image: values.image ?? null,
      pull: !values['no-pull'],
      push: values.push,
      buildOptions: positionals,
    },
    builder: values.builder,
    times: { startedOn, finishedOn: new Date() },
  });
  writeFileSync(join(folder, 'provenance.json'), `${JSON.stringify(statement, null, 2)}\n`);
  say(`${subjects.map(({ name, sha256 }) => `${name}  sha256:${sha256}`).join('\n')}\nin ${folder}`);
}

async function commit() {
  const git = (...args) => runCommand(['git', '-C', root, ...args]);
  return {
    commit: (await git('rev-parse', 'HEAD')).trim(),
    isChanged: (await git('status', '--porcelain')) !== '',
  };
}

/** @returns the name of the file */
async function pack(folder) {
  const told = await npm('pack', '--ignore-scripts', '--json', '--pack-destination', folder);
  return JSON.parse(told)[0].filename;
}

function npm(...args) {
  return runCommand(['npm', ...args], { cwd: root });
}

function buildImage(revision) {
  return buildReleaseImage({
    context: root,
    name: values.image,
    options: ['--build-arg', `REVISION=${revision}`, ...positionals],
    isPulled: !values['no-pull'],
    isPushed: values.push,
  });
}
