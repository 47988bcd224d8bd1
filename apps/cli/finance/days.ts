import { InvalidArgumentError } from 'commander';

/** A UTC day on the command line, such as 2026-01-31. */
export function dayArgument(given: string): string {
  const time = new Date(`${given}T00:00:00Z`);
  const isDay = /^\d{4}-\d\d-\d\d$/.test(given) && !Number.isNaN(time.getTime());
  if (isDay && time.toISOString().startsWith(given)) return given;
  throw new InvalidArgumentError('Give a day, such as 2026-01-31.');
}
