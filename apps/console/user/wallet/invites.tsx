import { Button, Card, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../api/client.js';
import type { Answer } from '../../api/queries.js';
import { tell } from '../../shell/notices.js';
import { CopyLine } from '../../ui/copy.js';
import { type Column, DataList } from '../../ui/data-list.js';
import { signOf } from '../../ui/decimal.js';
import { FormFault, useSend } from '../../ui/form.js';
import { Money, useMoneyText } from '../../ui/money.js';
import { Notice } from '../../ui/notice.js';
import { Loaded, Section } from '../../ui/states.js';
import { When } from '../../ui/when.js';
import { CREDITS, refreshMoney, useRequestName } from './wallet.js';
import { rightColumn, timeColumn } from '../../ui/columns.js';

type InvitesView = Answer<'/api/invites'>;
type Invitee = InvitesView['invitees'][number];

/** The link to invite with, who came by it, and what that brought. */
export function Invites() {
  const { t } = useTranslation('wallet');
  const invites = $api.useQuery('get', '/api/invites');
  return (
    <Stack gap="xl">
      <Loaded query={invites} lines={8}>
        {(found) => (
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            <Link invites={found} />
            <Move invites={found} />
          </SimpleGrid>
        )}
      </Loaded>
      <Section title={t('invites.people')}>
        <DataList
          label={t('invites.people')}
          query={{
            data: invites.data && { items: invites.data.invitees },
            error: invites.error,
            refetch: invites.refetch as never,
            isPlaceholderData: false,
          }}
          columns={useColumns()}
          rowKey={({ name }) => name}
          empty={{ title: t('invites.emptyTitle'), hint: t('invites.emptyHint') }}
        />
      </Section>
    </Stack>
  );
}

function Link({ invites: { link, code } }: { invites: InvitesView }) {
  const { t } = useTranslation('wallet');
  return (
    <Card withBorder>
      <Section title={t('invites.title')}>
        <Text size="sm">{t('invites.rule')}</Text>
        <Text size="sm" c="dimmed">
          {t('invites.link')}
        </Text>
        <CopyLine value={link} label={t('invites.link')} />
        <Text size="sm" c="dimmed">
          {t('invites.code')}
        </Text>
        <CopyLine value={code} label={t('invites.code')} />
      </Section>
    </Card>
  );
}

/** Rewards are of use only when they were moved to the main balance. */
function Move({ invites: { balance, movable, pending, nextMovableAt, owed } }: { invites: InvitesView }) {
  const { t } = useTranslation('wallet');
  return (
    <Card withBorder>
      <Section title={t('invites.moveTitle')}>
        <Text size="xl" fw={600} component="div">
          <Money value={balance} />
        </Text>
        {nextMovableAt !== null && signOf(pending) > 0 && (
          <Text size="sm" c="dimmed" component="div">
            <Money value={pending} /> {t('invites.pending')} <When at={nextMovableAt} />
          </Text>
        )}
        {signOf(owed) > 0 && (
          <Notice tone="warning" title={t('invites.owedTitle')}>
            <Money value={owed} /> · {t('invites.owed')}
          </Notice>
        )}
        {signOf(movable) > 0 ? (
          <MoveForm balance={movable} />
        ) : (
          <Text size="sm" c="dimmed">
            {t('invites.nothing')}
          </Text>
        )}
      </Section>
    </Card>
  );
}

function MoveForm({ balance }: { balance: string }) {
  const { t } = useTranslation('wallet');
  const money = useMoneyText();
  const request = useRequestName();
  const form = useForm({
    initialValues: { amount: '' },
    validate: { amount: (value) => (CREDITS.test(value.trim()) ? null : t('topUp.unreadable')) },
  });
  const { onSubmit, isSending, failure } = useSend({
    form,
    send: async ({ amount }) => {
      const body = { amount: amount.trim(), requestId: request.of(amount.trim()) };
      return (await api.POST('/api/invites/transfers', { body })).data!;
    },
    done: async ({ moved }) => {
      request.forget();
      form.reset();
      await refreshMoney();
      tell(t('invites.moved', { amount: money(moved) }));
    },
  });
  return (
    <form onSubmit={onSubmit} noValidate className="stack">
      <Group align="flex-end" gap="sm">
        <TextInput
          label={t('invites.amount')}
          inputMode="decimal"
          autoComplete="off"
          required
          rightSection={<Text size="sm">USD</Text>}
          rightSectionWidth="3.5rem"
          {...form.getInputProps('amount')}
        />
        <Button variant="default" onClick={() => form.setFieldValue('amount', balance)}>
          {t('invites.everything')}
        </Button>
      </Group>
      <FormFault failure={failure} />
      <Button type="submit" loading={isSending} w="fit-content">
        {t('invites.move')}
      </Button>
    </form>
  );
}

function useColumns(): Column<Invitee>[] {
  const { t } = useTranslation('wallet');
  return [
    {
      id: 'name',
      header: t('invites.name'),
      // The server numbers them in the order of their coming, and tells no more of them.
      cell: ({ name }) => t('invites.person', { number: name.replace(/\D/g, '') }),
    },
    timeColumn('joinedAt', t('invites.joinedAt')),
    ...[1, 2].map((ordinal) =>
      rightColumn(
        `reward-${ordinal}`,
        ordinal === 1 ? t('invites.first') : t('invites.second'),
        ({ rewards }: Invitee) => <Reward reward={rewards.find((each) => each.ordinal === ordinal)} />,
      ),
    ),
  ];
}

function Reward({ reward }: { reward: Invitee['rewards'][number] | undefined }) {
  const { t } = useTranslation('wallet');
  if (!reward) return <Text size="sm">{t('invites.notYet')}</Text>;
  return (
    <Stack gap={0} align="flex-end">
      <Money value={reward.amount} signed />
      {signOf(reward.takenBack) > 0 && (
        <Text size="xs" c="dimmed" component="div">
          {t('invites.takenBack')} <Money value={reward.takenBack} />
        </Text>
      )}
    </Stack>
  );
}
