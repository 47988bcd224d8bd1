import type { ConfigReader } from '#platform/config.js';

/** The time after the grace period for calls in flight, to publish what is left and to stop the database. */
const STOP_MARGIN_MS = 15_000;

/** The program's own configuration; the caller finishes the reader. */
export function readStandaloneProgram(reader: ConfigReader) {
  // Commands find the folder from anywhere, too. The address is the gateway's.
  reader.get('DATA_DIR');
  reader.get('PUBLIC_BASE_URL');
  return {
    port: reader.get('PORT'),
    consolePort: reader.get('CONSOLE_PORT'),
    host: reader.get('HOST', '127.0.0.1'),
    /** 0: no separate port for health and metrics. */
    healthPort: reader.get('HEALTH_PORT', 0),
    /** An upstream to use instead of the built-in sandbox. */
    sandboxUrl: reader.get('SANDBOX_URL'),
    sandboxApiKey: reader.get('SANDBOX_API_KEY'),
    sandbox: {
      imageSeconds: reader.get('SANDBOX_IMAGE_SECONDS') / 1000,
      videoSeconds: reader.get('SANDBOX_VIDEO_SECONDS') / 1000,
    },
    logLevel: reader.get('LOG_LEVEL', 'warn'),
    stopLimitMs: reader.get('SHUTDOWN_GRACE_SECONDS') + STOP_MARGIN_MS,
  };
}

/** What standalone reads in addition to the settings of its programs. */
export type StandaloneConfig = ReturnType<typeof readStandaloneProgram>;
