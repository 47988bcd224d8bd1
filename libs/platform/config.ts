import { readFileSync } from 'node:fs';
import { OperatorError } from './errors.js';
import { type Environment, type Setting, type ValueOf } from './settings/setting.js';
import { SETTINGS, type Settings } from './settings/settings.js';

/** The settings that a program reads, with their defaults. */
export interface AskedSetting {
  readonly name: string;
  readonly about: string;
  readonly isSecret: boolean;
  readonly isLogin: boolean;
  /** Undefined: it is required, or off by default. */
  readonly fallback: string | undefined;
}

/**
 * Reads environment variables once, each by its setting. All faults are collected and reported together, by name and
 * rule and never by value, because a value may be a secret. A secret may be in a file named by NAME_FILE instead of
 * NAME.
 */
export class ConfigReader<S extends Record<string, Setting<unknown>> = Settings> {
  private readonly faults = new Set<string>();
  private readonly askedFor = new Map<string, AskedSetting>();
  private readonly environment: Environment;

  /** @param settings replace Tollgate's own, for tests */
  constructor(
    private readonly env: NodeJS.ProcessEnv,
    private readonly settings: S = SETTINGS as Settings & S,
  ) {
    this.environment = {
      text: (name) => this.env[name] || undefined,
      secret: (name) => this.secretText(name),
      fault: (name, rule, instead) => this.fault(name, rule, instead),
    };
  }

  /** Every setting that was read, set or not, in order. */
  get asked(): AskedSetting[] {
    return [...this.askedFor.values()];
  }

  /** @param fallback replaces the setting's own default */
  get<N extends keyof S & string>(name: N, fallback?: ValueOf<S[N]>): ValueOf<S[N]> {
    const setting = this.settings[name] as Setting<ValueOf<S[N]>>;
    const { about, isSecret, isLogin } = setting;
    const instead = fallback ?? setting.fallback;
    const shown = instead === undefined ? undefined : setting.show(instead);
    this.askedFor.set(name, { name, about, isSecret, isLogin, fallback: shown });
    return setting.read(this.environment, name, instead);
  }

  /** Several settings, each under the name that the program gives it. */
  all<const N extends Record<string, keyof S & string>>(names: N) {
    const values = Object.entries(names).map(([given, name]) => [given, this.get(name)]);
    return Object.fromEntries(values) as { [G in keyof N]: ValueOf<S[N[G]]> };
  }

  /** A value for a setting that is off by default but needed by another one. */
  required(name: keyof S & string): string {
    const { isSecret } = this.settings[name] as Setting<unknown>;
    return this.fault(name, isSecret ? `must be set, or ${name}_FILE` : 'must be set', '');
  }

  /** Ends the reading. @throws OperatorError that names every invalid variable */
  finish<T extends object>(config: T): Readonly<T> {
    if (this.faults.size > 0) throw new OperatorError(`Configuration: ${[...this.faults].join('; ')}.`);
    return Object.freeze(config);
  }

  /** Records an invalid variable. `finish` reports all of them at once. */
  fault<T>(name: string, rule: string, instead: T): T {
    this.faults.add(`${name} ${rule}`);
    return instead;
  }

  /** The line end of a file is no part of a secret. */
  private secretText(name: string): string | undefined {
    const value = this.env[name] || undefined;
    const file = this.env[`${name}_FILE`];
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

/** Reads one part of the configuration by itself. @throws OperatorError that names the invalid variables */
export function readAlone<T>(env: NodeJS.ProcessEnv, read: (reader: ConfigReader) => T): T {
  const reader = new ConfigReader(env);
  return reader.finish({ part: read(reader) }).part;
}

/** The settings of a program, as --help and the documentation show them. */
export function settingsOf(read: (reader: ConfigReader) => unknown): AskedSetting[] {
  const reader = new ConfigReader({});
  read(reader);
  return reader.asked;
}
