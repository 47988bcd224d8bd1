import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { OperatorError } from './errors.js';

export interface RunningProgram {
  /** Finishes what is in progress, then releases everything. */
  stop(): Promise<void>;
  /** A longer stop is cut off, in milliseconds. */
  stopLimitMs: number;
}

export interface ProgramOptions {
  /** Printed by --help. */
  help: string;
  start: () => Promise<RunningProgram>;
  /** A sentence for the operator instead of a stack; undefined if only a stack explains the error. */
  sentenceFor: (error: unknown) => string | undefined;
}

/**
 * Runs a program as a process: --help, a start that may fail with one sentence, SIGTERM and SIGINT that finish work in
 * progress.
 */
export async function runProgram(options: ProgramOptions): Promise<void> {
  if (process.argv.includes('--help')) {
    process.stdout.write(options.help);
    return;
  }
  let program: RunningProgram | undefined;
  // Before the start, because the first process of a container ignores signals without a handler.
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    process.once(signal, () => (program ? void stop(program) : process.exit(code)));
  }
  try {
    program = await options.start();
  } catch (error) {
    process.stderr.write(`${options.sentenceFor(error) ?? (error as Error).stack}\n`);
    process.exit(1);
  }
}

async function stop(program: RunningProgram): Promise<void> {
  setTimeout(() => process.exit(1), program.stopLimitMs).unref();
  try {
    await program.stop();
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${(error as Error).stack}\n`);
    process.exit(1);
  }
}

/** Opens a server's port. @returns the port, which the system chooses for 0 @throws the `portFault` */
export async function listenOn(
  app: NestFastifyApplication,
  variable: string,
  where: { host: string; port: number },
): Promise<number> {
  try {
    await app.listen(where.port, where.host);
  } catch (error) {
    throw portFault(error, variable, where);
  }
  return (app.getHttpServer().address() as { port: number }).port;
}

/** A sentence for the operator instead of the system's message about a port. */
export function portFault(error: unknown, variable: string, where: { host: string; port: number }): unknown {
  const what = `${variable} ${where.port} on ${where.host}`;
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new OperatorError(`${what} is already in use: choose a free port.`);
    case 'EACCES':
      return new OperatorError(`${what} is not allowed for this user: choose a port above 1023.`);
    case 'EADDRNOTAVAIL':
      return new OperatorError(`${what}: this machine has no such address.`);
    default:
      return error;
  }
}
