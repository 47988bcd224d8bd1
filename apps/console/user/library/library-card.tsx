import { Card, Group, Stack } from '@mantine/core';
import type { ReactNode, Ref } from 'react';
import { useTranslation } from 'react-i18next';
import { OpenLink, TextLink } from '../../ui/links.js';
import { Money } from '../../ui/money.js';
import { SmallPrint, TextLine } from '../../ui/texts.js';
import { Ago } from '../../ui/time/when.js';
import type { PlayKind } from '../playground/call.js';
import { TimeLeft } from '../tasks/task-file.js';

interface LibraryCardProps {
  ref?: Ref<HTMLLIElement>;
  thumbnail: ReactNode;
  /** What the title opens. */
  opens: { param: 'task' | 'charge'; value: string };
  title: ReactNode;
  about: ReactNode;
  at: string;
  /** How long its files are still available; null: they are gone. */
  leftMs: number | null;
  cost: string | null;
  again: ReactNode;
  download?: ReactNode;
}

export function LibraryCard({ ref, thumbnail, opens, title, about, at, leftMs, ...foot }: LibraryCardProps) {
  return (
    <Card ref={ref} component="li" withBorder>
      <Card.Section>{thumbnail}</Card.Section>
      <Stack gap="xs" mt="sm" flex={1}>
        <OpenLink {...opens} size="sm" fw={600} c="inherit" className="model-name">
          {title}
        </OpenLink>
        <SmallPrint>
          {about} · <Ago at={at} />
        </SmallPrint>
        {leftMs !== null && Number.isFinite(leftMs) && (
          <SmallPrint>
            <TimeLeft ms={leftMs} />
          </SmallPrint>
        )}
        <Group justify="space-between" mt="auto">
          <TextLine>{foot.cost === null ? '–' : <Money value={foot.cost} />}</TextLine>
          {foot.again}
        </Group>
        {foot.download}
      </Stack>
    </Card>
  );
}

interface AgainProps {
  search: { kind: PlayKind; model: string | undefined; again?: string };
  prompt: string;
}

export function Again({ search, prompt }: AgainProps) {
  const { t } = useTranslation('calls');
  return (
    <TextLink to="/playground" search={search} size="sm" aria-label={t('library.againOf', { prompt })}>
      {t('library.again')}
    </TextLink>
  );
}
