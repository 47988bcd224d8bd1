// Run by `npm version`, which writes the version into package.json, commits and tags. This writes it everywhere else.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { giveUp, root } from './lib/clone.mjs';

const CHANGELOG = 'docs/changelog.md';
const UNRELEASED = '## Unreleased\n';
/** What contains the version besides npm's own files. */
const NAMED = {
  'deploy/helm/tollgate/Chart.yaml': /^(version|appVersion): .+$/gm,
  'docs/asyncapi.yaml': /^( {2}version): .+$/m,
};

if (process.argv.includes('--check')) requireNotes();
else if (process.env.npm_lifecycle_event === 'version') write(process.env.npm_package_version);
else giveUp('Run `npm version <version>`, which runs this script.');

/** `npm version` changes nothing if this fails. */
function requireNotes() {
  const [, rest = ''] = read(CHANGELOG).split(UNRELEASED);
  if (!/^[^#\s]/m.test(rest.split('\n## ')[0]))
    giveUp(`${CHANGELOG} lists nothing under "Unreleased". Say there what changed.`);
}

function write(version) {
  for (const [file, pattern] of Object.entries(NAMED))
    change(file, (text) => text.replace(pattern, (_, name) => `${name}: ${version}`));
  const today = new Date().toISOString().slice(0, 10);
  change(CHANGELOG, (text) => text.replace(UNRELEASED, `${UNRELEASED}\n## ${version}, ${today}\n`));
  execFileSync('git', ['-C', root, 'add', CHANGELOG, ...Object.keys(NAMED)]);
}

function change(file, by) {
  writeFileSync(join(root, file), by(read(file)));
}

function read(file) {
  return readFileSync(join(root, file), 'utf8');
}
