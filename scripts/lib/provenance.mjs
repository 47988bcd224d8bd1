// Where a release came from: an in-toto statement with the SLSA 1.0 predicate.
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { arch, platform } from 'node:os';

/** Defines the `parameters`; docs/operating.md describes them. */
const BUILD_TYPE = 'urn:tollgate:release:v1';

/**
 * @typedef {{ name: string, sha256: string }} Named
 *
 * @param {object} of
 * @param {Named[]} of.subjects what was built
 * @param {{ commit: string, isChanged: boolean }} of.source
 * @param {Named[]} of.baseImages
 * @param {Named[]} of.lockfiles
 * @param {object} of.parameters the options of the release
 * @param {string} of.builder a URI
 * @param {{ startedOn: Date, finishedOn: Date }} of.times
 * @returns {object}
 */
export function provenance({ subjects, source, baseImages, lockfiles, parameters, builder, times }) {
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: subjects.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: BUILD_TYPE,
        externalParameters: parameters,
        internalParameters: { node: process.version, platform: `${platform()}/${arch()}` },
        resolvedDependencies: [
          sourceOf(source),
          ...baseImages.map(({ name, sha256 }) => ({ uri: `docker://${name}`, digest: { sha256 } })),
          ...lockfiles.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
        ],
      },
      runDetails: {
        builder: { id: builder },
        metadata: {
          invocationId: randomUUID(),
          startedOn: times.startedOn.toISOString(),
          finishedOn: times.finishedOn.toISOString(),
        },
      },
    },
  };
}

/** If anything is not in the commit, the commit alone does not say what was built. */
function sourceOf({ commit, isChanged }) {
  return {
    name: 'source',
    digest: { gitCommit: commit },
    ...(isChanged && { annotations: { hasUncommittedChanges: true } }),
  };
}

export function sha256Of(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
