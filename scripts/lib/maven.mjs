// Java programs that tests start: the jars that a pom names, fetched once by Maven.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './clone.mjs';

const OLDEST_JAVA = 17;
const MAVEN_LIMIT_MS = 300_000;

/**
 * Copies the jars into a cache named after the pom and the properties.
 * @param {object} wanted
 * @param {string} wanted.name the folder of its pom in scripts/
 * @param {string} wanted.about what it is called
 * @param {Record<string, string>} [wanted.properties] of the pom, replaced
 * @param {(text: string) => void} wanted.say
 * @returns {{ java: string, jars: string } | { why: string }} the command, and the folder; or why they are not there
 */
export function fetchJars({ name, about, properties = {}, say }) {
  const java = javaCommand();
  if (java.why !== undefined) return java;
  const pom = join(root, 'scripts', name, 'pom.xml');
  const replaced = Object.entries(properties).map(([property, value]) => `-D${property}=${value}`);
  const hash = createHash('sha256').update(readFileSync(pom)).update(replaced.join(' ')).digest('hex');
  const folder = join(cacheFolder(), `${name}-${hash.slice(0, 12)}`);
  if (existsSync(folder)) return { java: java.command, jars: folder };
  if (!runs('mvn', ['--version'])) return { why: `there is no Maven to fetch ${about}` };
  say(`Fetching ${about} with Maven …`);
  const partial = mkdtempSync(`${folder}.`);
  const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${partial}`];
  const options = { encoding: 'utf8', timeout: MAVEN_LIMIT_MS };
  const { status, stdout, error } = spawnSync('mvn', ['-q', '-B', '-f', pom, ...goal, ...replaced], options);
  if (status !== 0) {
    rmSync(partial, { recursive: true, force: true });
    const why = stdout?.split('\n').find((line) => line.includes('ERROR')) ?? error?.message;
    return { why: `Maven could not fetch ${about} (${why ?? 'no reason given'})` };
  }
  keepOne(partial, folder);
  return { java: java.command, jars: folder };
}

function javaCommand() {
  const command = process.env.JAVA_HOME ? join(process.env.JAVA_HOME, 'bin', 'java') : 'java';
  const { stderr, error } = spawnSync(command, ['-version'], { encoding: 'utf8' });
  const major = Number(/version "(\d+)/.exec(stderr ?? '')?.[1]);
  if (error || !major) return { why: 'there is no Java' };
  return major < OLDEST_JAVA ? { why: `Java ${major} is too old, ${OLDEST_JAVA} is needed` } : { command };
}

function runs(command, args) {
  return spawnSync(command, args, { stdio: 'ignore', timeout: 30_000 }).status === 0;
}

/** If two scripts fetch at the same time, one of them keeps its copy. */
function keepOne(partial, folder) {
  try {
    renameSync(partial, folder);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

function cacheFolder() {
  for (const folder of [join(root, '.cache'), join(homedir(), '.cache', 'tollgate')]) {
    try {
      mkdirSync(folder, { recursive: true });
      return folder;
    } catch {
      // Read-only. The next place may work.
    }
  }
  return tmpdir();
}
