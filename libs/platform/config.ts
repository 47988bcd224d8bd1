import { readFileSync } from 'node:fs';
import { OperatorError } from './errors.js';

const DAY_MS = 86_400_000;

/**
 * Reads environment variables once, each with a rule; every fault is collected and told together, by name and rule
 * and never by value, since a value may be a secret. A secret may be in a file that NAME_FILE names, in place of NAME.
 */
export class ConfigReader {
  private readonly faults = new Set<string>();
  private readonly asked = new Set<string>();

  constructor(private readonly env: NodeJS.ProcessEnv) {}

  /** Every variable that was asked for, whether it is set or not. */
  get names(): ReadonlySet<string> {
    return this.asked;
  }

  string(name: string, fallback?: string): string {
    const value = this.text(name) ?? fallback;
    if (value === undefined || value === '') return this.fault(name, 'must be set', '');
    return value;
  }

  optionalString(name: string): string | undefined {
    return this.text(name) || undefined;
  }

  /** A secret, of so many characters at least where it could be guessed. */
  secret(name: string, minChars = 1): string {
    return this.optionalSecret(name, minChars) ?? this.fault(name, `must be set, or ${name}_FILE`, '');
  }

  /** @returns undefined when neither NAME nor NAME_FILE is set. */
  optionalSecret(name: string, minChars = 1): string | undefined {
    const value = this.secretText(name);
    if (value === undefined || value === '' || value.length >= minChars) return value;
    return this.fault(name, `must have at least ${minChars} characters`, '');
  }

  /**
   * An address with a login. The password may be in it, or in a variable of its own where no character has a meaning:
   * DATABASE_PASSWORD beside DATABASE_URL.
   */
  secretUrl(name: string): string {
    return this.optionalSecretUrl(name) ?? this.fault(name, `must be set, or ${name}_FILE`, '');
  }

  optionalSecretUrl(name: string): string | undefined {
    const passwordName = name.replace(/_URL$/, '_PASSWORD');
    const text = this.secretText(name);
    const password = this.secretText(passwordName);
    if (!text || password === '') return text;
    if (!URL.canParse(text)) {
      const rule = `must be an absolute URL; a password with characters such as @, # or / belongs into ${passwordName}`;
      return this.fault(name, rule, '');
    }
    if (password === undefined) return text;
    const url = new URL(text);
    if (url.password !== '') {
      return this.fault(name, `must be without a password where ${passwordName} is set`, '');
    }
    url.password = encodeURIComponent(password);
    return url.toString();
  }

  integer(name: string, rule: { fallback: number; min: number; max: number }): number {
    const text = this.text(name);
    if (text === undefined || text === '') return rule.fallback;
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    if (!(value >= rule.min && value <= rule.max)) {
      return this.fault(name, `must be a whole number from ${rule.min} to ${rule.max}`, rule.fallback);
    }
    return value;
  }

  /** A duration in milliseconds, configured in (fractions of) seconds under a name that ends in _SECONDS. */
  seconds(name: string, fallbackSeconds: number): number {
    const text = this.text(name);
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
    const text = this.text(name);
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
    const text = this.text(name) || 'false';
    if (/^\d$/.test(text)) return Number(text);
    if (['true', 'yes'].includes(text)) return 1;
    if (['false', 'no'].includes(text)) return 0;
    return this.fault(name, 'must be true, false, or how many proxies there are, up to 9', 0);
  }

  choice<T extends string>(name: string, choices: readonly T[], fallback: T): T {
    const text = this.text(name);
    if (text === undefined || text === '') return fallback;
    return (
      choices.find((choice) => choice === text) ??
      this.fault(name, `must be ${choices.join(' or ')}`, fallback)
    );
  }

  /** A text of a given form, such as a currency or a decimal amount. */
  matching(name: string, form: { pattern: RegExp; rule: string; fallback: string }): string {
    const text = this.text(name) || form.fallback;
    return form.pattern.test(text) ? text : this.fault(name, form.rule, form.fallback);
  }

  list(name: string): string[] {
    return (this.text(name) ?? '')
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
    if (this.faults.size > 0) throw new OperatorError(`Configuration: ${[...this.faults].join('; ')}.`);
    return Object.freeze(config);
  }

  /** Notes that a variable breaks its rule; programs learn all faults at once, from `finish`. */
  fault<T>(name: string, rule: string, fallback: T): T {
    this.faults.add(`${name} ${rule}`);
    return fallback;
  }

  private text(name: string): string | undefined {
    this.asked.add(name);
    return this.env[name];
  }

  /** A file ends as editors end it; whoever wants blanks in a secret puts them elsewhere. */
  private secretText(name: string): string | undefined {
    const value = this.text(name) || undefined;
    const file = this.text(`${name}_FILE`);
    if (!file) return value;
    if (value !== undefined) return this.fault(name, `and ${name}_FILE must not both be set`, '');
    try {
      return (
        readFileSync(file, 'utf8').replace(/[\r\n]+$/, '') ||
        this.fault(`${name}_FILE`, 'names an empty file', '')
      );
    } catch (error) {
      const why = (error as NodeJS.ErrnoException).code;
      return this.fault(`${name}_FILE`, `names a file that cannot be read (${why})`, '');
    }
  }
}

/** Reads one part of the configuration by itself. @throws OperatorError that names the variables at fault. */
export function readAlone<T>(env: NodeJS.ProcessEnv, read: (reader: ConfigReader) => T): T {
  const reader = new ConfigReader(env);
  return reader.finish({ part: read(reader) }).part;
}
