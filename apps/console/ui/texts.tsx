import { Alert, type AlertProps, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

interface WordsProps {
  children: ReactNode;
}

/** A line of text that may contain times and amounts. */
export function TextLine({ children }: WordsProps) {
  return (
    <Text size="sm" component="div">
      {children}
    </Text>
  );
}

export function Hint({ children }: WordsProps) {
  return (
    <Text size="sm" c="dimmed" component="div">
      {children}
    </Text>
  );
}

export function SmallPrint({ children }: WordsProps) {
  return (
    <Text size="xs" c="dimmed" component="div">
      {children}
    </Text>
  );
}

/** A label and its value on one line, with the language's colon. */
export function Labelled({ label, children }: WordsProps & { label: string }) {
  const labelled = useLabelled();
  return (
    <>
      {labelled(label, '')}
      {children}
    </>
  );
}

/** As plain text. */
export function useLabelled(): (label: string, value: string) => string {
  const { t } = useTranslation('shell');
  return (label, value) => t('labelled', { label, value });
}

export function TwoLines({ first, second }: { first: ReactNode; second: ReactNode }) {
  return (
    <Stack gap={0}>
      <Text size="sm" component="div" className="model-name">
        {first}
      </Text>
      <SmallPrint>{second}</SmallPrint>
    </Stack>
  );
}

/** An id or a reference, in a font for comparing letters. */
export function Identifier({ children }: { children: string | null }) {
  if (children === null) return '–';
  return (
    <Text span size="xs" ff="monospace" className="model-name">
      {children}
    </Text>
  );
}

const TONE_COLOURS = {
  good: 'var(--tone-good)',
  bad: 'var(--tone-bad)',
  busy: 'var(--tone-busy)',
  waiting: 'var(--tone-waiting)',
  quiet: 'var(--tone-quiet)',
} as const;

export type Tone = keyof typeof TONE_COLOURS;

/** A state as a word with a coloured dot. Use it for all states. The word has the meaning; the colour only helps. */
export function StatusBadge({ tone, hint, children }: { tone: Tone; hint?: string; children: ReactNode }) {
  return (
    <span className="status no-shrink" {...(hint ? { title: hint } : {})}>
      <svg width={8} height={8} aria-hidden>
        <circle cx={4} cy={4} r={4} fill={TONE_COLOURS[tone]} />
      </svg>
      {children}
    </span>
  );
}

const NOTICE_COLOURS = { good: 'green', warning: 'yellow', bad: 'red', quiet: 'gray' } as const;

interface NoticeProps extends Pick<AlertProps, 'title' | 'role'> {
  tone: keyof typeof NOTICE_COLOURS;
  children: ReactNode;
}

/** Quiet notices have the frame of a card, so that they do not look like an alarm. */
const QUIET_FRAME = { borderColor: 'var(--colour-line)' };

/** A notice on a page. Only its frame is coloured, so that its text has enough contrast. */
export function Notice({ tone, ...rest }: NoticeProps) {
  return <Alert color={NOTICE_COLOURS[tone]} style={tone === 'quiet' ? QUIET_FRAME : undefined} {...rest} />;
}
