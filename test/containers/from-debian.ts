import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '../..');
const SCRIPT = pathToFileURL(join(root, 'scripts/lib/debian-package.mjs')).href;

type Unpack = (name: string, folder: string, options?: { release?: string }) => void;

/** The program of an image registry. */
export async function registryProgram(): Promise<string> {
  return join(await unpacked('docker-registry'), 'usr/bin/docker-registry');
}

/** The variables with which `docker build` finds the BuildKit plugin; none if it is installed. */
export async function buildxVariables(): Promise<Record<string, string>> {
  if (spawnSync('docker', ['buildx', 'version'], { stdio: 'ignore' }).status === 0) return {};
  return { DOCKER_CONFIG: join(await unpacked('docker-buildx', 'trixie'), 'usr/libexec/docker') };
}

async function unpacked(name: string, release?: string): Promise<string> {
  const folder = join(root, '.cache', name);
  const { unpackPackage } = (await import(SCRIPT)) as { unpackPackage: Unpack };
  if (!existsSync(folder)) unpackPackage(name, folder, { release });
  return folder;
}
