/**
 * Letters beyond WinAnsiEncoding, drawn of parts that each Helvetica has. Its own glyphs for them would be one piece, but
 * programs that show PDF with fonts of their own often lack these, and then show nothing.
 */
export interface DrawnLetter {
  /** Codes of StandardEncoding. */
  readonly base: number;
  /** Its place is in thousandths, by the width of the base. */
  readonly accent: { readonly code: number; readonly at: (base: number) => Place } | null;
  /** Which WinAnsi letter is as wide, and how many thousandths to add in the plain and the bold face. */
  readonly width: { readonly like: string; readonly more: readonly [number, number] };
}

interface Place {
  x: number;
  y: number;
}

/** All accents are as wide as this, and in the middle of it. */
const ACCENT_WIDTH = 333;
/** How much higher capitals are than other letters. */
const CAPITAL = 195;

/** Accents above a letter by their combining character. */
const ABOVE: Readonly<Record<string, number>> = {
  '\u0300': 0xc1,
  '\u0301': 0xc2,
  '\u0302': 0xc3,
  '\u0303': 0xc4,
  '\u0304': 0xc5,
  '\u0306': 0xc6,
  '\u0307': 0xc7,
  '\u0308': 0xc8,
  '\u030a': 0xca,
  '\u030b': 0xcd,
  '\u030c': 0xcf,
};
const CEDILLA = 0xcb;
const OGONEK = 0xce;
const CARON = '\u030c';
const DOTLESS = 0xf5;
const BAR = 0x2d;
const APOSTROPHE = 0x27;

const NONE = [0, 0] as const;
/** The letter without a dot is wider in the plain face. */
const DOTLESS_WIDTH = { like: 'i', more: [56, 0] } as const;
/** Letters whose caron is an apostrophe beside them. */
const BESIDE: Readonly<Record<string, readonly [number, number]>> = {
  d: [87, 132],
  l: [77, 122],
  t: [39, 56],
  L: NONE,
};
const WHOLE: Readonly<Record<string, DrawnLetter>> = {
  Ł: { base: 0xe8, accent: null, width: { like: 'L', more: NONE } },
  ł: { base: 0xf8, accent: null, width: { like: 'l', more: NONE } },
  ı: { base: DOTLESS, accent: null, width: DOTLESS_WIDTH },
  Đ: barred('D', () => ({ x: -40, y: 90 })),
  đ: barred('d', (width) => ({ x: width - 290, y: 330 })),
};

/** How a letter is drawn; null: it has no such parts. */
export function drawnLetter(letter: string): DrawnLetter | null {
  const whole = WHOLE[letter];
  if (whole) return whole;
  const [base = '', mark = '', more] = letter.normalize('NFD');
  if (!/^[A-Za-z]$/.test(base) || more !== undefined) return null;
  if (mark === CARON && base in BESIDE) return withApostrophe(base);
  if (mark === '\u0326' || mark === '\u0327') return withCedilla(base);
  if (mark === '\u0328') return withOgonek(base);
  const code = ABOVE[mark];
  return code === undefined ? null : withAccent(base, code);
}

function withAccent(base: string, code: number): DrawnLetter {
  const y = /[A-Z]|[bdhklt]/.test(base) ? CAPITAL : 0;
  const accent = { code, at: (width: number) => ({ x: middle(width), y }) };
  if (base === 'i')
    return { base: DOTLESS, accent: { code, at: () => ({ x: middle(278), y }) }, width: DOTLESS_WIDTH };
  return { ...plain(base), accent };
}

function withCedilla(base: string): DrawnLetter {
  // Below what goes below the line.
  const y = base === 'g' ? -CAPITAL : 0;
  return { ...plain(base), accent: { code: CEDILLA, at: (width) => ({ x: middle(width), y }) } };
}

/** At the right foot; that of U is round. */
function withOgonek(base: string): DrawnLetter {
  const at = (width: number) => ({ x: base === 'U' ? middle(width) : width - 300, y: 0 });
  return { ...plain(base), accent: { code: OGONEK, at } };
}

function withApostrophe(base: string): DrawnLetter {
  const at = (width: number) => ({ x: width - (base === 'L' ? 176 : 62), y: 0 });
  return { ...plain(base, BESIDE[base]), accent: { code: APOSTROPHE, at } };
}

function barred(base: string, at: (width: number) => Place): DrawnLetter {
  return { ...plain(base), accent: { code: BAR, at } };
}

function plain(base: string, more: readonly [number, number] = NONE): Omit<DrawnLetter, 'accent'> {
  return { base: base.charCodeAt(0), width: { like: base, more } };
}

function middle(width: number): number {
  return Math.round((width - ACCENT_WIDTH) / 2);
}
