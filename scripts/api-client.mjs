// `npm run api-client`: writes the types of the control plane's client anew from its OpenAPI document.
import { spawnSync } from 'node:child_process';
import { root } from './lib/bootstrap.mjs';

const HELP = `Writes apps/console/api/schema.ts from the routes that the control plane serves.

Usage: npm run api-client [-- --help]

The spec that keeps the file true to the routes does it, with UPDATE_API_CLIENT=1.
`;

if (process.argv.includes('--help')) {
  process.stdout.write(HELP);
} else {
  const { status } = spawnSync(
    'npm',
    ['run', '--silent', 'unit', '--', 'test/journeys/console-api.spec.ts'],
    {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, UPDATE_API_CLIENT: '1' },
    },
  );
  process.exitCode = status ?? 1;
}
