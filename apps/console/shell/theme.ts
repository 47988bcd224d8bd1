import { createTheme, type CSSVariablesResolver } from '@mantine/core';
import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react';
import { setNonce } from 'get-nonce';

export const schemes = { auto: IconDeviceDesktop, light: IconSun, dark: IconMoon } as const;
export type Scheme = keyof typeof schemes;

/** The library's sizes and their names in ui/tokens.css. */
function named<Size extends string>(sizes: readonly Size[], kind: string) {
  return Object.fromEntries(sizes.map((size) => [size, `var(--${kind}-${size})`])) as Record<Size, string>;
}

/** Shades on which white text has enough contrast (4.5:1). */
export const theme = createTheme({
  primaryColor: 'blue',
  primaryShade: { light: 8, dark: 8 },
  autoContrast: true,
  cursorType: 'pointer',
  defaultRadius: 'md',
  radius: { sm: 'var(--radius-sm)', md: 'var(--radius-md)' },
  spacing: named(['hair', 'tiny', 'row', 'xs', 'sm', 'md', 'lg', 'xl'], 'space'),
  fontFamily: 'var(--face)',
  fontFamilyMonospace: 'var(--face-exact)',
  fontSizes: named(['xs', 'sm', 'md', 'lg', 'xl'], 'text'),
  lineHeights: { md: 'var(--line-text)' },
  headings: {
    sizes: {
      h2: { fontSize: 'var(--title-page)', lineHeight: 'var(--line-title)' },
      h3: { fontSize: 'var(--title-section)', lineHeight: 'var(--line-title)' },
      h4: { fontSize: 'var(--title-part)', lineHeight: 'var(--line-title)' },
    },
  },
  respectReducedMotion: true,
  components: {
    Tooltip: { defaultProps: { withArrow: true } },
    // Titles have the colour of text, because most others are too pale.
    Alert: { defaultProps: { variant: 'outline' }, classNames: { title: 'notice-title' } },
  },
});

const shades = {
  '--mantine-color-dimmed': 'var(--colour-quiet)',
  '--mantine-color-placeholder': 'var(--colour-quiet)',
  '--mantine-color-error': 'var(--colour-fault)',
  '--mantine-color-anchor': 'var(--colour-link)',
};

/** The library's colours and their names in ui/tokens.css. */
export const cssVariables: CSSVariablesResolver = () => ({ variables: {}, light: shades, dark: shades });

/** The nonce of this page; styles without it are refused. */
export function styleNonce(): string {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';
  setNonce(nonce);
  return nonce;
}
