// The programs of a Kubernetes node, built once from source with Go, which takes minutes.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../clone.mjs';
import { runGo } from '../go.mjs';

const MODULE = 'k8s.io/kubernetes';
/** The newest version that Debian's containerd supports, even on machines with cgroups v1. */
const VERSION = 'v1.34.4';
const ETCD = 'go.etcd.io/etcd/server/v3';
const ETCD_VERSION = 'v3.6.13';
const PROGRAMS = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
  'kubectl',
];
const WITHOUT_SYMBOLS = '-s -w';

/** Keeps a pod's namespaces open: it sleeps until it is stopped. */
const PAUSE = `package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	<-stop
}
`;

/**
 * @param {(text: string) => void} say
 * @returns {{ folder: string } | { why: string }} where the programs are, including `etcd` and `pause`, or why they are
 * missing
 */
export function findKubernetes(say) {
  const folder = join(root, '.cache', `kubernetes-${VERSION}`);
  if (existsSync(folder)) return { folder };
  say('Building Kubernetes with Go …');
  mkdirSync(join(root, '.cache'), { recursive: true });
  const partial = mkdtempSync(`${folder}.`);
  try {
    const why = build(partial);
    if (why !== undefined) return { why: `Kubernetes could not be built (${why})` };
    renameSync(join(partial, 'bin'), folder);
    return { folder };
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/**
 * In a separate module: `go install` refuses modules that replace others, as Kubernetes' own does.
 * @returns {string | undefined} why it failed
 */
function build(folder) {
  const { output: file, why } = runGo(['list', '-m', '-f', '{{.GoMod}}', `${MODULE}@${VERSION}`], {
    cwd: folder,
  });
  if (why !== undefined) return why;
  writeFileSync(join(folder, 'go.mod'), ownModule(readFileSync(file, 'utf8')));
  mkdirSync(join(folder, 'pause'));
  writeFileSync(join(folder, 'pause', 'main.go'), PAUSE);
  const go = (flags, ...packages) =>
    runGo(['build', '-mod=mod', '-trimpath', '-ldflags', `${WITHOUT_SYMBOLS} ${flags}`, '-o', ...packages], {
      cwd: folder,
    }).why;
  return (
    go(versionFlags(), 'bin/', './pause', ...PROGRAMS.map((name) => `${MODULE}/cmd/${name}`)) ??
    go('', 'bin/etcd', ETCD)
  );
}

/** Kubernetes' module uses the libraries next to it. Published ones have their own versions. */
function ownModule(published) {
  const libraries = [...published.matchAll(/^\s*(k8s\.io\/\S+) => \.\//gm)];
  const lines = [
    'module tollgate.test/cluster',
    'go 1.24.0',
    `require ${MODULE} ${VERSION}`,
    `require ${ETCD} ${ETCD_VERSION}`,
    ...libraries.map(([, name]) => `replace ${name} => ${name} ${VERSION.replace('v1', 'v0')}`),
  ];
  return `${lines.join('\n')}\n`;
}

function versionFlags() {
  const [major, minor] = VERSION.slice(1).split('.');
  const values = { gitVersion: VERSION, gitMajor: major, gitMinor: minor };
  return Object.entries(values)
    .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
    .join(' ');
}
