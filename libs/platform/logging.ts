import { pino, type Logger } from 'pino';
import { logFields } from './tracing.js';

export type { Logger };

/** Structured logs on standard error; standard output belongs to people and to --json lines. */
export function createLogger(program: string, level = process.env['LOG_LEVEL'] ?? 'info'): Logger {
  return pino(
    {
      level,
      base: { program },
      mixin: logFields,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: ['authorization', '*.authorization', 'apiKey', '*.apiKey', 'password', '*.password'],
        censor: '[redacted]',
      },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
