import { OperatorError } from './errors.js';

const DAY_MS = 86_400_000;

/**
 * Reads environment variables once, each with a rule; every fault is collected and told together, by name and rule
 * and never by value, since a value may be a secret.
 */
export class ConfigReader {
  private readonly faults: string[] = [];

  constructor(private readonly env: NodeJS.ProcessEnv) {}

  string(name: string, fallback?: string): string {
    const value = this.env[name] ?? fallback;
    if (value === undefined || value === '') return this.fault(name, 'must be set', '');
    return value;
  }

  optionalString(name: string): string | undefined {
    return this.env[name] || undefined;
  }

  /** A secret that is too long to guess. */
  secret(name: string, minChars: number): string {
    const value = this.string(name);
    if (value === '' || value.length >= minChars) return value;
    return this.fault(name, `must have at least ${minChars} characters`, '');
  }

  integer(name: string, rule: { fallback: number; min: number; max: number }): number {
    const text = this.env[name];
    if (text === undefined || text === '') return rule.fallback;
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    if (!(value >= rule.min && value <= rule.max)) {
      return this.fault(name, `must be a whole number from ${rule.min} to ${rule.max}`, rule.fallback);
    }
    return value;
  }

  /** A duration in milliseconds, configured in (fractions of) seconds under a name that ends in _SECONDS. */
  seconds(name: string, fallbackSeconds: number): number {
    const text = this.env[name];
    if (text === undefined || text === '') return fallbackSeconds * 1000;
    const value = /^\d{1,9}(\.\d{1,3})?$/.test(text) ? Number(text) : NaN;
    if (Number.isNaN(value))
      return this.fault(name, 'must be seconds, such as 1500 or 0.5', fallbackSeconds * 1000);
    return Math.round(value * 1000);
  }

  /** The same in (fractions of) days, under a name that ends in _DAYS. */
  days(name: string, fallbackDays: number): number {
    const text = this.env[name];
    if (text === undefined || text === '') return fallbackDays * DAY_MS;
    if (/^\d{1,5}(\.\d{1,9})?$/.test(text)) return Math.round(Number(text) * DAY_MS);
    return this.fault(name, 'must be days, such as 30 or 0.5', fallbackDays * DAY_MS);
  }

  boolean(name: string, fallback: boolean): boolean {
    const text = this.env[name];
    if (text === undefined || text === '') return fallback;
    if (['1', 'true', 'yes'].includes(text)) return true;
    if (['0', 'false', 'no'].includes(text)) return false;
    return this.fault(name, 'must be true or false', fallback);
  }

  /**
   * How many proxies stand before the program: of the addresses that a request was forwarded for, the nearest so many were
   * written by them, and the rest by whoever sent it. `true` is one, `false` none.
   */
  proxies(name: string): number {
    const text = this.env[name] || 'false';
    if (/^\d$/.test(text)) return Number(text);
    if (['true', 'yes'].includes(text)) return 1;
    if (['false', 'no'].includes(text)) return 0;
    return this.fault(name, 'must be true, false, or how many proxies there are, up to 9', 0);
  }

  choice<T extends string>(name: string, choices: readonly T[], fallback: T): T {
    const text = this.env[name];
    if (text === undefined || text === '') return fallback;
    return (
      choices.find((choice) => choice === text) ??
      this.fault(name, `must be ${choices.join(' or ')}`, fallback)
    );
  }

  /** A text of a given form, such as a currency or a decimal amount. */
  matching(name: string, form: { pattern: RegExp; rule: string; fallback: string }): string {
    const text = this.env[name] || form.fallback;
    return form.pattern.test(text) ? text : this.fault(name, form.rule, form.fallback);
  }

  list(name: string): string[] {
    return (this.env[name] ?? '')
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  }

  url(name: string, fallback?: string): string {
    const text = this.string(name, fallback);
    if (text === '' || URL.canParse(text)) return text;
    return this.fault(name, 'must be an absolute URL', '');
  }

  /** Ends the reading. @throws OperatorError that names every variable at fault. */
  finish<T extends object>(config: T): Readonly<T> {
    if (this.faults.length > 0) throw new OperatorError(`Configuration: ${this.faults.join('; ')}.`);
    return Object.freeze(config);
  }

  private fault<T>(name: string, rule: string, fallback: T): T {
    this.faults.push(`${name} ${rule}`);
    return fallback;
  }
}
