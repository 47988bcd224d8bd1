// What is removed from the installed packages, since nothing here reads it: 230 MB, including source maps. Licences and type
// declarations remain. Runs on whatever Node the machine has.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const UNUSED = [
  // C headers of the project's Node, for compiling native packages. Nothing here is compiled.
  'node/node_modules',
  'typeorm/browser',
  // For `require`, but this project imports.
  'nodemailer/dist/cjs',
  'stripe/cjs',
  // For Bare, a runtime other than Node.
  'bare-buffer/prebuilds',
  'bare-fs/prebuilds',
  'bare-path/prebuilds',
  'bare-url/prebuilds',
  // For bundlers and browsers. Node reads other builds.
  'class-transformer/bundles',
  'class-transformer/esm2015',
  'class-transformer/esm5',
  'class-validator/bundles',
  'class-validator/esm2015',
  'class-validator/esm5',
  'csv-parse/dist/esm',
  'csv-parse/dist/iife',
  'csv-parse/dist/umd',
  'csv-stringify/dist/esm',
  'csv-stringify/dist/iife',
  'csv-stringify/dist/umd',
  'dayjs/esm',
  'h264-mp4-encoder/embuild/dist/h264-mp4-encoder.web.js',
  'libphonenumber-js/bundle',
  'rxjs/dist/bundles',
  'rxjs/dist/esm',
  'rxjs/dist/esm5',
  'validator/es',
  // Names of unstable conventions. The stable ones are elsewhere.
  '@opentelemetry/semantic-conventions/dist/experimental_attributes.cjs',
  '@opentelemetry/semantic-conventions/dist/experimental_attributes.d.cts',
  '@opentelemetry/semantic-conventions/dist/experimental_attributes.d.mts',
  '@opentelemetry/semantic-conventions/dist/experimental_attributes.mjs',
  // Tests with large data.
  'bintrees/test',
  // Its authors' package manager, and builds for browsers.
  'pdfkit/.yarn',
  'pdfkit/js/pdfkit.browser.js',
  'pdfkit/js/pdfkit.browser.mjs',
  'pdfkit/js/pdfkit.browser.old.js',
  'pdfkit/js/pdfkit.browser.old.mjs',
  'pdfkit/js/pdfkit.old.js',
  // The compressor. Fonts are only decompressed.
  'brotli/build',
  // What source maps refer to.
  '@noble/ciphers/src',
  '@noble/curves/src',
  '@noble/hashes/src',
  '@zxcvbn-ts/language-common/src',
  'fontkit/src',
  'openai/src',
  'rxjs/src',
  'zod/src',
];

/** In each package of these scopes: builds for bundlers, and types for a TypeScript before 4.0. */
const UNUSED_OF_SCOPES = {
  '@aws-sdk': ['dist-es', 'dist-types/ts3.4'],
  '@opentelemetry': ['build/esm', 'build/esnext'],
  '@smithy': ['dist-es', 'dist-types/ts3.4'],
};

/** In any package: what only its authors and readers use. */
const UNUSED_FOLDERS = [
  '.github',
  'bench',
  'benchmark',
  'benchmarks',
  'docs',
  'example',
  'examples',
  'test',
  'tests',
];

const TEXT =
  /^(readme|change-?log|changes|history|contributing|code_of_conduct|security|upgrad|migrat).*\.(md|markdown)$/i;
const LICENCE = /^(licen[cs]e|copying|unlicense|mit)\b/i;

/** @param {string} packages the folder `node_modules` */
export function removeUnused(packages) {
  for (const part of UNUSED) remove(join(packages, part));
  for (const folder of foldersOfPackages(packages)) {
    for (const part of UNUSED_FOLDERS) remove(join(folder, part));
    removeTexts(folder);
  }
  removeOfScopes(packages);
  removeFiles(packages);
}

function removeOfScopes(packages) {
  for (const [scope, parts] of Object.entries(UNUSED_OF_SCOPES))
    for (const folder of foldersOfPackages(join(packages, scope)))
      for (const part of parts) remove(join(folder, part));
}

/** A text may be the only place of a licence. */
function removeTexts(folder) {
  const names = readdirSync(folder);
  if (!names.some((name) => LICENCE.test(name))) return;
  for (const name of names) if (TEXT.test(name)) remove(join(folder, name));
}

/** Source maps, and in openai what `require` would read, next to what `import` reads. */
function removeFiles(packages) {
  for (const file of readdirSync(packages, { recursive: true, encoding: 'utf8' })) {
    const path = join(packages, file);
    if (/\.[cm]?[jt]s\.map$/.test(file)) remove(path);
    if (/^openai\/.*\.[jt]s$/.test(file) && existsSync(path.replace(/\.([jt]s)$/, '.m$1'))) remove(path);
  }
}

/** @returns the packages in `folder`, those of scopes, and those inside of them */
function foldersOfPackages(folder) {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return names.flatMap(({ name }) => {
    if (name.startsWith('.')) return [];
    const path = join(folder, name);
    if (name.startsWith('@')) return foldersOfPackages(path);
    return [path, ...foldersOfPackages(join(path, 'node_modules'))];
  });
}

function remove(path) {
  rmSync(path, { recursive: true, force: true });
}
