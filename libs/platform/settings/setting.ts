/** Where a setting finds its text, and reports what is wrong with it. */
export interface Environment {
  /** The variable's value; undefined if it is not set, or empty. */
  text(name: string): string | undefined;
  /** The same for a secret, which may be in a file named by NAME_FILE. */
  secret(name: string): string | undefined;
  /** Records an invalid variable, and continues with some value. */
  fault<T>(name: string, rule: string, instead: T): T;
}

/** One environment variable: its meaning, and how its text becomes a value. */
export interface Setting<T> {
  /** Its effect, for --help and the documentation. */
  readonly about: string;
  /** The default; undefined: it is required, or off. */
  readonly fallback: T | undefined;
  readonly isSecret: boolean;
  /** True for an address with a login, whose password may be in a separate variable. */
  readonly isLogin: boolean;
  /** A value as its text. */
  show(value: T): string;
  read(environment: Environment, name: string, fallback: T | undefined): T;
}

export type ValueOf<S> = S extends Setting<infer T> ? T : never;

const DAY_MS = 86_400_000;
const MOST = 1_000_000;

interface Range {
  min: number;
  max: number;
}

function setting<T>(
  about: string,
  read: Setting<T>['read'],
  more: Partial<Omit<Setting<T>, 'about' | 'read'>> = {},
): Setting<T> {
  return { fallback: undefined, isSecret: false, isLogin: false, show: String, ...more, about, read };
}

/** A text that must be set, unless there is a default. */
export function text(about: string, fallback?: string): Setting<string> {
  const read: Setting<string>['read'] = (environment, name, instead) =>
    environment.text(name) ?? instead ?? environment.fault(name, 'must be set', '');
  return setting(about, read, { fallback });
}

export function optionalText(about: string): Setting<string | undefined> {
  return setting<string | undefined>(about, (environment, name) => environment.text(name));
}

/** Words separated by commas. */
export function list(about: string): Setting<string[]> {
  return setting(about, (environment, name) =>
    (environment.text(name) ?? '')
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  );
}

/** The same, at least one. */
export function requiredList(about: string): Setting<string[]> {
  const items = list(about);
  return setting(about, (environment, name, instead) => {
    const found = items.read(environment, name, undefined);
    return found.length > 0 ? found : (instead ?? environment.fault(name, 'must be set', found));
  });
}

/** A secret, with a minimum length if it could be guessed. */
export function secret(about: string, minChars = 1): Setting<string> {
  const optional = optionalSecret(about, minChars);
  const read: Setting<string>['read'] = (environment, name, instead) =>
    optional.read(environment, name, undefined) ??
    instead ??
    environment.fault(name, `must be set, or ${name}_FILE`, '');
  return setting(about, read, { isSecret: true });
}

export function optionalSecret(about: string, minChars = 1): Setting<string | undefined> {
  const read: Setting<string | undefined>['read'] = (environment, name) => {
    const value = environment.secret(name);
    if (value === undefined || value === '' || value.length >= minChars) return value;
    return environment.fault(name, `must have at least ${minChars} characters`, '');
  };
  return setting(about, read, { isSecret: true });
}

/**
 * An address with a login. The password may be in it, or in a separate variable, where no character has a special
 * meaning: DATABASE_PASSWORD for DATABASE_URL.
 */
export function login(about: string): Setting<string> {
  const optional = optionalLogin(about);
  const read: Setting<string>['read'] = (environment, name, instead) =>
    optional.read(environment, name, undefined) ??
    instead ??
    environment.fault(name, `must be set, or ${name}_FILE`, '');
  return setting(about, read, { isSecret: true, isLogin: true });
}

export function optionalLogin(about: string): Setting<string | undefined> {
  return setting<string | undefined>(about, readLogin, { isSecret: true, isLogin: true });
}

/** The variable with the password of a login. */
export function passwordOf(name: string): string {
  return name.replace(/_URL$/, '_PASSWORD');
}

function readLogin(environment: Environment, name: string): string | undefined {
  const passwordName = passwordOf(name);
  const address = environment.secret(name);
  const password = environment.secret(passwordName);
  if (!address || password === '') return address;
  if (!URL.canParse(address)) {
    const rule = `must be an absolute URL; a password with characters such as @, # or / belongs into ${passwordName}`;
    return environment.fault(name, rule, '');
  }
  if (password === undefined) return address;
  const url = new URL(address);
  if (url.password !== '')
    return environment.fault(name, `must be without a password where ${passwordName} is set`, '');
  url.password = encodeURIComponent(password);
  return url.toString();
}

/** A whole number in a range. By default, from 1 to a million. */
export function count(about: string, fallback: number, range: Partial<Range> = {}): Setting<number> {
  const { min, max } = { min: 1, max: MOST, ...range };
  const read: Setting<number>['read'] = (environment, name, instead = fallback) => {
    const digits = environment.text(name);
    if (digits === undefined) return instead;
    const value = /^\d{1,15}$/.test(digits) ? Number(digits) : NaN;
    if (value >= min && value <= max) return value;
    return environment.fault(name, `must be a whole number from ${min} to ${max}`, instead);
  };
  return setting(about, read, { fallback });
}

/** A port; 0 for a free one, or none. */
export function port(about: string, fallback: number): Setting<number> {
  return count(about, fallback, { min: 0, max: 65_535 });
}

/** A duration, given in (fractions of) seconds and read as milliseconds. */
export function seconds(about: string, fallbackSeconds: number): Setting<number> {
  const read: Setting<number>['read'] = (environment, name, instead = fallbackSeconds * 1000) => {
    const digits = environment.text(name);
    if (digits === undefined) return instead;
    if (/^\d{1,9}(\.\d{1,3})?$/.test(digits)) return Math.round(Number(digits) * 1000);
    return environment.fault(name, 'must be seconds, such as 1500 or 0.5', instead);
  };
  return setting(about, read, { fallback: fallbackSeconds * 1000, show: (ms) => String(ms / 1000) });
}

/** The same in days. */
export function days(about: string, fallbackDays: number, leastDays = 0): Setting<number> {
  const read: Setting<number>['read'] = (environment, name, instead = fallbackDays * DAY_MS) => {
    const digits = environment.text(name);
    if (digits === undefined) return instead;
    if (/^\d{1,5}(\.\d{1,9})?$/.test(digits) && Number(digits) >= leastDays)
      return Math.round(Number(digits) * DAY_MS);
    const least = leastDays === 0 ? ' or 0.5' : `, and at least ${leastDays}`;
    return environment.fault(name, `must be days, such as 30${least}`, instead);
  };
  return setting(about, read, { fallback: fallbackDays * DAY_MS, show: (ms) => String(ms / DAY_MS) });
}

/** Yes or no. Without a default, its reader has one. */
export function flag(about: string, fallback?: boolean): Setting<boolean> {
  const read: Setting<boolean>['read'] = (environment, name, instead = false) => {
    const word = environment.text(name);
    if (word === undefined) return instead;
    if (['1', 'true', 'yes'].includes(word)) return true;
    if (['0', 'false', 'no'].includes(word)) return false;
    return environment.fault(name, 'must be true or false', instead);
  };
  return setting(about, read, { fallback });
}

/**
 * How many proxies are in front of the program. Of the forwarded addresses, they wrote this many, the nearest ones, and
 * the sender wrote the rest. `true` is one, `false` none.
 */
export function proxies(about: string): Setting<number> {
  const read: Setting<number>['read'] = (environment, name) => {
    const word = environment.text(name) ?? 'false';
    if (/^\d$/.test(word)) return Number(word);
    if (['true', 'yes'].includes(word)) return 1;
    if (['false', 'no'].includes(word)) return 0;
    return environment.fault(name, 'must be true, false, or how many proxies there are, up to 9', 0);
  };
  return setting(about, read, { fallback: 0, show: (many) => (many === 0 ? 'false' : String(many)) });
}

/** One of some words. Without a default, its reader has one. */
export function choice<const T extends string>(
  about: string,
  choices: readonly [T, ...T[]],
  fallback?: T,
): Setting<T> {
  const read: Setting<T>['read'] = (environment, name, instead = choices[0]) => {
    const word = environment.text(name);
    if (word === undefined) return instead;
    const rule = `must be ${choices.join(' or ')}`;
    return choices.find((each) => each === word) ?? environment.fault(name, rule, instead);
  };
  return setting(about, read, { fallback });
}

/** A text in a given format, such as a currency. */
export function form(
  about: string,
  { pattern, rule, fallback }: { pattern: RegExp; rule: string; fallback: string },
): Setting<string> {
  const read: Setting<string>['read'] = (environment, name) => {
    const given = environment.text(name) ?? fallback;
    return pattern.test(given) ? given : environment.fault(name, rule, fallback);
  };
  return setting(about, read, { fallback });
}

/** A decimal amount of USD, as its text. */
export function usdLimit(about: string, fallback: string): Setting<string> {
  const rule = 'must be an amount such as 1000 or 0.5';
  return form(about, { pattern: /^\d{1,9}(\.\d{1,9})?$/, rule, fallback });
}

/** An absolute address, without slashes at its end. */
export function url(about: string, fallback?: string): Setting<string> {
  const optional = optionalUrl(about);
  const read: Setting<string>['read'] = (environment, name, instead) =>
    optional.read(environment, name, undefined) ?? instead ?? environment.fault(name, 'must be set', '');
  return setting(about, read, { fallback });
}

export function optionalUrl(about: string): Setting<string | undefined> {
  return setting<string | undefined>(about, (environment, name) => {
    const given = environment.text(name);
    if (given === undefined || URL.canParse(given)) return given?.replace(/\/+$/, '');
    return environment.fault(name, 'must be an absolute URL', '');
  });
}
