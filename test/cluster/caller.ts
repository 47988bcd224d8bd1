import { until } from '../support/eventually.js';
import { IMAGE, type Installation, SPACE } from './installation.js';

const NAME = 'caller';
const SECURITY = {
  runAsNonRoot: true,
  runAsUser: 1000,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};
/** Prints `open`, or the error's code. */
const CONNECT = `const [host, port] = process.argv.slice(1);
const report = (word) => { console.log(word); process.exit(); };
require('node:net').connect(Number(port), host, () => report('open')).on('error', ({ code }) => report(code));`;

interface Runs {
  run(...command: string[]): Promise<string>;
}

/** Somebody else's pod in the chart's namespace. */
export class Caller implements Runs {
  private constructor(private readonly chart: Installation) {}

  static async start(chart: Installation): Promise<Caller> {
    const container = {
      name: NAME,
      image: `${IMAGE.repository}:${IMAGE.tag}`,
      command: ['sleep', 'infinity'],
      securityContext: SECURITY,
    };
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: NAME, namespace: SPACE },
      spec: {
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 0,
        containers: [container],
      },
    };
    await chart.node.apply(pod);
    await chart.kubectl('wait', '--for=condition=Ready', `pod/${NAME}`, '--timeout=3m');
    return new Caller(chart);
  }

  run(...command: string[]): Promise<string> {
    return this.chart.kubectl('exec', NAME, '--', ...command);
  }

  async label(label: string): Promise<void> {
    await this.chart.kubectl('label', '--overwrite', 'pod', NAME, label);
  }

  async end(): Promise<void> {
    await this.chart.kubectl('delete', 'pod', NAME);
  }
}

/** Waits until a connection from there ends like this, since policies take effect some time after they are created. */
export async function reach(
  from: Runs,
  to: { host: string; port: number },
  outcome: 'open' | 'ECONNREFUSED',
): Promise<void> {
  let last = '';
  await until(
    `${to.host}:${to.port} to be ${outcome}`,
    async () => {
      last = (await from.run('node', '-e', CONNECT, to.host, String(to.port))).trim();
      return last === outcome;
    },
    { state: () => `It was ${last}.` },
  );
}
