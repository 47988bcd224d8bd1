import { Card, SimpleGrid, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import { Fact, Facts } from '../../ui/lists/facts.js';
import { Identifier } from '../../ui/identifier.js';
import { ButtonLink, TextLink } from '../../ui/links.js';
import { Loaded, Section } from '../../ui/states.js';
import { Day, When } from '../../ui/time/when.js';
import { nextToClose } from '../periods/period.js';
import { monthOf, today } from '../utc-days.js';

/** Up to when everything is posted, sealed and closed. */
export function Progress() {
  const { t } = useTranslation('finance');
  return (
    <Section title={t('progress.title')}>
      <SimpleGrid cols={{ base: 1, md: 3 }}>
        <Card withBorder>
          <Posted />
        </Card>
        <Card withBorder>
          <Sealed />
        </Card>
        <Card withBorder>
          <Closed />
        </Card>
      </SimpleGrid>
    </Section>
  );
}

function Posted() {
  const { t } = useTranslation('finance');
  const from = monthOf(today());
  const deferred = $api.useQuery('get', '/api/finance/reports/deferred-revenue', {
    params: { query: { from } },
  });
  const bills = $api.useQuery('get', '/api/finance/reports/upstream-bills');
  return (
    <>
      <Text fw={600}>{t('progress.posted')}</Text>
      <Loaded query={deferred} lines={2}>
        {({ recognisedTo, completeTo }) => (
          <Facts label={t('progress.posted')}>
            <Fact name={t('progress.certain')} value={completeTo === null ? '–' : <When at={completeTo} />} />
            <Fact
              name={t('progress.recognised')}
              value={recognisedTo === null ? '–' : <When at={recognisedTo} />}
            />
          </Facts>
        )}
      </Loaded>
      <Loaded query={bills} lines={1}>
        {({ costsTo }) => (
          <Facts label={t('progress.costs')}>
            <Fact name={t('progress.costs')} value={costsTo === null ? '–' : <When at={costsTo} />} />
          </Facts>
        )}
      </Loaded>
    </>
  );
}

function Sealed() {
  const { t } = useTranslation('finance');
  const chain = $api.useQuery('get', '/api/finance/chain', { params: { query: { limit: 1 } } });
  return (
    <>
      <Text fw={600}>{t('progress.sealed')}</Text>
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
    </>
  );
}

function Closed() {
  const { t } = useTranslation('finance');
  const periods = $api.useQuery('get', '/api/finance/periods', {
    params: { query: { state: 'closed', limit: 1 } },
  });
  return (
    <>
      <Text fw={600}>{t('progress.closed')}</Text>
      <Loaded query={periods}>
        {({ items: [last] }) => (
          <>
            <Facts label={t('progress.closed')}>
              <Fact
                name={t('progress.lastClose')}
                value={
                  last ? (
                    <TextLink to="/finance/periods/$periodId" params={{ periodId: last.id }}>
                      <When at={last.endsAt} />
                    </TextLink>
                  ) : (
                    t('progress.noClose')
                  )
                }
              />
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
    </>
  );
}
