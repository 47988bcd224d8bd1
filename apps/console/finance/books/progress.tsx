import { Card, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { type Shape, useRead } from '../../api/client.js';
import { Fact, Facts } from '../../ui/lists/facts.js';
import { Identifier } from '../../ui/texts.js';
import { ButtonLink, TextLink } from '../../ui/links.js';
import { Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { Day, When } from '../../ui/time/when.js';
import { nextToClose } from '../periods/period.js';
import { monthOf, today } from '../utc-days.js';

/** Up to when everything is posted, sealed and closed. */
export function Progress() {
  const { t } = useTranslation('finance');
  return (
    <Section title={t('progress.title')}>
      <SimpleGrid cols={{ base: 1, md: 3 }}>
        <Posted />
        <Sealed />
        <Closed />
      </SimpleGrid>
    </Section>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card withBorder>
      <Text fw={600}>{title}</Text>
      {children}
    </Card>
  );
}

function Posted() {
  const { t } = useTranslation('finance');
  const query = { from: monthOf(today()) };
  const deferred = useRead('/api/finance/reports/deferred-revenue', { query });
  const bills = useRead('/api/finance/reports/upstream-bills');
  return (
    <Part title={t('progress.posted')}>
      <Loaded query={deferred} lines={2}>
        {({ recognisedTo, completeTo }) => (
          <Facts label={t('progress.posted')}>
            <Fact name={t('progress.certain')} value={<Until at={completeTo} />} />
            <Fact name={t('progress.recognised')} value={<Until at={recognisedTo} />} />
          </Facts>
        )}
      </Loaded>
      <Loaded query={bills} lines={1}>
        {({ costsTo }) => (
          <Facts label={t('progress.costs')}>
            <Fact name={t('progress.costs')} value={<Until at={costsTo} />} />
          </Facts>
        )}
      </Loaded>
    </Part>
  );
}

function Until({ at }: { at: string | null }) {
  return at === null ? '–' : <When at={at} />;
}

function Sealed() {
  const { t } = useTranslation('finance');
  const chain = useRead('/api/finance/chain', { query: { limit: 1 } });
  return (
    <Part title={t('progress.sealed')}>
      <Loaded query={chain}>
        {({ items: [head] }) =>
          head ? (
            <Facts label={t('progress.sealed')}>
              <Fact name={t('progress.block')} value={head.number} />
              <Fact name={t('progress.sealedAt')} value={<When at={head.sealedAt} />} />
              <Fact name={t('progress.hash')} value={<Identifier>{head.hash}</Identifier>} />
            </Facts>
          ) : (
            <Text size="sm">{t('progress.unsealed')}</Text>
          )
        }
      </Loaded>
    </Part>
  );
}

function Closed() {
  const { t } = useTranslation('finance');
  const query = { state: 'closed', limit: 1 } as const;
  const periods = useRead('/api/finance/periods', { query });
  return (
    <Part title={t('progress.closed')}>
      <Loaded query={periods}>
        {({ items: [last] }) => (
          <>
            <Facts label={t('progress.closed')}>
              <Fact name={t('progress.lastClose')} value={<LastClose period={last} />} />
              <Fact
                name={t('progress.next')}
                value={<Day on={nextToClose(last?.endsAt ?? null, today())} />}
              />
            </Facts>
            <ButtonLink to="/finance/periods/close" variant="default" size="xs">
              {t('progress.close')}
            </ButtonLink>
          </>
        )}
      </Loaded>
    </Part>
  );
}

function LastClose({ period }: { period: Shape<'Period'> | undefined }) {
  const { t } = useTranslation('finance');
  if (!period) return t('progress.noClose');
  return (
    <TextLink to="/finance/periods/$periodId" params={{ periodId: period.id }}>
      <When at={period.endsAt} />
    </TextLink>
  );
}
