import { dictionary } from '@zxcvbn-ts/language-common';

/** About fifty thousand passwords that are guessed first, in lower case. */
const COMMON: ReadonlySet<string> = new Set(dictionary['passwords-common']);
/** Shorter words occur in many good passwords. */
const SHORTEST_WORD = 4;
/** Common replacements of letters. A 1 may stand for two of them. */
const LOOK_ALIKES = { '@': 'a', '4': 'a', '3': 'e', '0': 'o', $: 's', '5': 's', '7': 't' } as const;

export interface PasswordOwner {
  email: string;
  /** Names of the installation, such as its host. */
  names: readonly string[];
}

/** Why a password is refused, as the end of a sentence about it; null: it is accepted. */
export function passwordFault(password: string, owner: PasswordOwner): string | null {
  const text = password.normalize('NFKC').toLowerCase();
  if (isCommon(text)) return 'is too easy to guess: choose words that do not belong together';
  const rest = wordsOf(owner).reduce((left, word) => left.replaceAll(word, ' '), text);
  const letters = rest.replace(/[^\p{L}]/gu, '');
  if (rest === text || (letters.length >= SHORTEST_WORD && !isCommon(rest))) return null;
  return 'must not be made of your email address or the name of this service';
}

export function serviceNames(consoleUrl: string): string[] {
  return ['tollgate', ...(URL.canParse(consoleUrl) ? [new URL(consoleUrl).hostname] : [])];
}

/** The address and its parts, longest first. */
function wordsOf({ email, names }: PasswordOwner): string[] {
  const whole = [email, ...email.split('@'), ...names].map((word) => word.toLowerCase());
  const parts = whole.flatMap((word) => [word, ...word.split(/[^\p{L}\p{N}]+/u)]);
  const words = new Set(parts.flatMap((word) => [word, word.replace(/[^\p{L}\p{N}]/gu, '')]));
  return [...words].filter((word) => word.length >= SHORTEST_WORD).sort((a, b) => b.length - a.length);
}

/** Whether it is a common password, also with digits and symbols around, inside or instead of letters, or written twice. */
function isCommon(text: string): boolean {
  const inner = text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
  const forms = [text, text.replace(/[^\p{L}]+$/u, ''), inner].flatMap(withoutDisguise);
  return forms.some(isListed) || /^[^\p{L}]*$/u.test(text);
}

function withoutDisguise(text: string): string[] {
  const plain = text.replace(/[@430$57]/g, (sign) => LOOK_ALIKES[sign as keyof typeof LOOK_ALIKES]);
  const readings = [text, plain.replaceAll('1', 'i').replaceAll('!', 'i'), plain.replaceAll('1', 'l')];
  return readings.map((reading) => reading.replace(/[^\p{L}\p{N}]/gu, ''));
}

/** Whether it is a common password, or a short one repeated. */
function isListed(form: string): boolean {
  const repeated = /^(.+?)\1+$/u.exec(form)?.[1];
  return COMMON.has(form) || (repeated !== undefined && (repeated.length <= 4 || COMMON.has(repeated)));
}
