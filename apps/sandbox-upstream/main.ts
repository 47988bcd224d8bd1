import { ConfigReader } from '#platform/config.js';
import { OperatorError } from '#platform/errors.js';
import { type SandboxOptions, startSandbox } from './sandbox-server.js';

const HELP = `The sandbox upstream: a stand-in vendor of images and videos, for development and tests.

Usage: node dist/apps/sandbox-upstream/main.js [--help]

Environment:
  SANDBOX_HOST           address to listen on (127.0.0.1)
  SANDBOX_PORT           port, 0 for a free one (4010)
  SANDBOX_API_KEY        the key that requests must carry (sandbox-key)
  SANDBOX_IMAGE_SECONDS  how long an image takes (0.3)
  SANDBOX_VIDEO_SECONDS  how long a video takes (6)
  SANDBOX_SLOW_SECONDS   how long the fault slow-bytes stretches a file (10)
  SANDBOX_STATE_DIR      folder that keeps accepted videos through a crash (none: in memory)
  SANDBOX_PUBLIC_URL     origin of result addresses (the one a request came to)

Prints one JSON line when it is ready; SIGTERM or SIGINT ends it.
`;

function readOptions(env: NodeJS.ProcessEnv): SandboxOptions {
  const reader = new ConfigReader(env);
  return reader.finish({
    host: reader.string('SANDBOX_HOST', '127.0.0.1'),
    port: reader.integer('SANDBOX_PORT', { fallback: 4010, min: 0, max: 65_535 }),
    apiKey: reader.optionalSecret('SANDBOX_API_KEY') ?? 'sandbox-key',
    imageSeconds: reader.seconds('SANDBOX_IMAGE_SECONDS', 0.3) / 1000,
    videoSeconds: reader.seconds('SANDBOX_VIDEO_SECONDS', 6) / 1000,
    slowSeconds: reader.seconds('SANDBOX_SLOW_SECONDS', 10) / 1000,
    stateDir: reader.optionalString('SANDBOX_STATE_DIR'),
    publicUrl: reader.optionalString('SANDBOX_PUBLIC_URL'),
  });
}

async function main(): Promise<void> {
  if (process.argv.includes('--help')) {
    process.stdout.write(HELP);
    return;
  }
  const sandbox = await startSandbox(readOptions(process.env));
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
