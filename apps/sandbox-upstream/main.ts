import { readAlone } from '#platform/config.js';
import { OperatorError } from '#platform/errors.js';
import { helpOf } from '#platform/settings/help.js';
import { readSandboxProgram } from './sandbox.config.js';
import { startSandbox } from './sandbox-server.js';

async function main(): Promise<void> {
  if (process.argv.includes('--help')) {
    const about =
      'The sandbox upstream: a stand-in vendor of images and videos, for development and tests.\nPrints one JSON line when it is ready.';
    const usage = 'node dist/apps/sandbox-upstream/main.js [--help]';
    process.stdout.write(helpOf({ about, usage, read: readSandboxProgram }));
    return;
  }
  const sandbox = await startSandbox(readAlone(process.env, readSandboxProgram));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void sandbox.close());
  process.stdout.write(
    `${JSON.stringify({ ready: true, url: sandbox.url, port: sandbox.port, pid: process.pid })}\n`,
  );
}

try {
  await main();
} catch (error) {
  if (!(error instanceof OperatorError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
