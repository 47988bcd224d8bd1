import type { ConfigReader } from '#platform/config.js';
import type { SandboxOptions } from './sandbox-server.js';

/** The default key that requests must carry. */
const API_KEY = 'sandbox-key';

/** The sandbox's configuration as a program; the caller finishes the reader. */
export function readSandboxProgram(reader: ConfigReader): SandboxOptions {
  return {
    host: reader.get('SANDBOX_HOST'),
    port: reader.get('SANDBOX_PORT'),
    apiKey: reader.get('SANDBOX_API_KEY', API_KEY),
    imageSeconds: reader.get('SANDBOX_IMAGE_SECONDS') / 1000,
    videoSeconds: reader.get('SANDBOX_VIDEO_SECONDS') / 1000,
    slowSeconds: reader.get('SANDBOX_SLOW_SECONDS') / 1000,
    stateDir: reader.get('SANDBOX_STATE_DIR'),
    publicUrl: reader.get('SANDBOX_PUBLIC_URL'),
  };
}
