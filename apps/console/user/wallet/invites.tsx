import { Button, Card, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { api, type Shape, useRead } from '../../api/client.js';
import { notify } from '../../shell/notices.js';
import { column, rightColumn, timeColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn, rowsOf } from '../../ui/lists/data-list.js';
import { CopyLine } from '../../ui/copy.js';
import { signOf } from '../../ui/decimal.js';
import { creditsField } from '../../ui/forms/text-fields.js';
import { SendForm, useSend } from '../../ui/forms/form.js';
import { LargeMoney, Money, useMoneyText } from '../../ui/money.js';
import { Hint, SmallPrint } from '../../ui/texts.js';
import { Notice } from '../../ui/notice.js';
import { Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { When } from '../../ui/time/when.js';
import { refreshMoney, useRequestName } from './wallet.js';
import { CREDITS } from '../../ui/patterns.js';

type Invitee = Shape<'Invites'>['invitees'][number];

export function Invites() {
  const { t } = useTranslation('wallet');
  const invites = useRead('/api/invites');
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
          query={rowsOf(invites, (data) => data.invitees)}
          columns={useColumns()}
          rowKey="name"
          empty={t('invites.empty')}
        />
      </Section>
    </Stack>
  );
}

function Link({ invites: { link, code } }: { invites: Shape<'Invites'> }) {
  const { t } = useTranslation('wallet');
  return (
    <Card withBorder>
      <Section title={t('invites.title')}>
        <Text size="sm">{t('invites.rule')}</Text>
        <Hint>{t('invites.link')}</Hint>
        <CopyLine value={link} label={t('invites.link')} />
        <Hint>{t('invites.code')}</Hint>
        <CopyLine value={code} label={t('invites.code')} />
      </Section>
    </Card>
  );
}

/** Rewards can be used only after moving them to the main balance. */
function Move({ invites }: { invites: Shape<'Invites'> }) {
  const { t } = useTranslation('wallet');
  const { balance, movable, pending, nextMovableAt, owed } = invites;
  return (
    <Card withBorder>
      <Section title={t('invites.moveTitle')}>
        <LargeMoney value={balance} />
        {nextMovableAt !== null && signOf(pending) > 0 && (
          <Hint>
            <Money value={pending} /> {t('invites.pending')} <When at={nextMovableAt} />
          </Hint>
        )}
        {signOf(owed) > 0 && (
          <Notice tone="warning" title={t('invites.owedTitle')}>
            <Money value={owed} /> · {t('invites.owed')}
          </Notice>
        )}
        {signOf(movable) > 0 ? <MoveForm balance={movable} /> : <Hint>{t('invites.nothing')}</Hint>}
      </Section>
    </Card>
  );
}

function useMove() {
  const { t } = useTranslation('wallet');
  const money = useMoneyText();
  const request = useRequestName();
  const form = useForm({
    initialValues: { amount: '' },
    validate: { amount: (value) => (CREDITS.test(value.trim()) ? null : t('topUp.unreadable')) },
  });
  const sending = useSend({
    form,
    send: async ({ amount }) => {
      const body = { amount: amount.trim(), requestId: request.of(amount.trim()) };
      return (await api.POST('/api/invites/transfers', { body })).data!;
    },
    done: async ({ moved }) => {
      request.forget();
      form.reset();
      await refreshMoney();
      notify(t('invites.moved', { amount: money(moved) }));
    },
  });
  return { form, sending };
}

function MoveForm({ balance }: { balance: string }) {
  const { t } = useTranslation('wallet');
  const { form, sending } = useMove();
  return (
    <SendForm sending={sending} submit={t('invites.move')}>
      <Group align="flex-end" gap="sm">
        {creditsField(t('invites.amount'), { required: true }).draw(form.getInputProps('amount'))}
        <Button variant="default" onClick={() => form.setFieldValue('amount', balance)}>
          {t('invites.everything')}
        </Button>
      </Group>
    </SendForm>
  );
}

function useColumns(): ListColumn<Invitee>[] {
  const { t } = useTranslation('wallet');
  return [
    // The server only numbers invitees, in the order in which they signed up.
    column('name', t('invites.name'), ({ name }) => t('invites.person', { number: name.replace(/\D/g, '') })),
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
  if (!reward) return t('invites.notYet');
  return (
    <Stack gap={0} align="flex-end">
      <Money value={reward.amount} signed />
      {signOf(reward.takenBack) > 0 && (
        <SmallPrint>
          {t('invites.takenBack')} <Money value={reward.takenBack} />
        </SmallPrint>
      )}
    </Stack>
  );
}
