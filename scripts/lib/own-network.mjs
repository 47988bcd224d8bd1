// A network of its own for a command that only uses loopback: browsers abort their requests whenever an interface of
// the machine comes or goes, and each container has one.
import { spawnSync } from 'node:child_process';

const OWN_NETWORK = ['unshare', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];

/** The words before a command that give it a network of its own; none if this user or machine cannot make one. */
export function ownNetwork() {
  const [program, ...words] = [...OWN_NETWORK, 'true'];
  return spawnSync(program, words, { stdio: 'ignore' }).status === 0 ? OWN_NETWORK : [];
}
