import { Alert, Card, SimpleGrid, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '../api/client.js';
import type { Answer } from '../api/queries.js';
import { Money } from '../ui/money.js';
import { Page } from '../ui/page.js';
import { EmptyState, Loaded, Section } from '../ui/states.js';
import { TextLink } from '../ui/links.js';

type Account = Answer<'/api/account'>;

/** What the account has, at a glance. */
export function OverviewPage() {
  const { t } = useTranslation('user');
  const account = $api.useQuery('get', '/api/account');
  return (
    <Page title={t('overview.title')}>
      <Loaded query={account} lines={4}>
        {(found) => (
          <>
            {found.frozen && (
              <Alert color="red" variant="outline" title={t('overview.frozen')}>
                {found.frozen.reason === 'debt' ? t('overview.debt') : found.frozen.reason}
              </Alert>
            )}
            <Balances account={found} />
          </>
        )}
      </Loaded>
      <Section title={t('overview.first')}>
        <EmptyState
          title={t('overview.connectTitle')}
          hint={t('overview.connectHint')}
          action={<TextLink to="/connect">{t('overview.connect')}</TextLink>}
        />
      </Section>
    </Page>
  );
}

function Balances({ account }: { account: Account }) {
  const { t } = useTranslation('user');
  const { main, held, invite } = account.balance;
  const cards = [
    { name: 'main', value: main },
    { name: 'held', value: held },
    { name: 'invite', value: invite },
    { name: 'month', value: account.spentThisMonth },
  ] as const;
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
      {cards.map(({ name, value }) => (
        <Card key={name} withBorder>
          <Stack gap={4}>
            <Text size="sm" c="dimmed">
              {t(`overview.balance.${name}`)}
            </Text>
            <Text size="xl" fw={600}>
              <Money value={value} short />
            </Text>
            <Text size="xs" c="dimmed">
              {t(`overview.balanceHint.${name}`)}
            </Text>
          </Stack>
        </Card>
      ))}
    </SimpleGrid>
  );
}
