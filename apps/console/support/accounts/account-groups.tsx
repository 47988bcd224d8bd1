import { Button, Card, Group, Select, Stack } from '@mantine/core';
import { useForm, type UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { api, type GetAnswer, refresh, useRead } from '../../api/client.js';
import { notify } from '../../shell/notices.js';
import { mayAny, useSession } from '../../shell/session.js';
import { Who } from '../../shell/who.js';
import { ConfirmAction } from '../../ui/forms/confirm-action.js';
import { FormFault, useSend } from '../../ui/forms/form.js';
import { Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { TextLine } from '../../ui/texts.js';

const MOST_GROUPS = 200;
const GROUPS = '/api/support/accounts/{accountId}/groups';
type Groups = GetAnswer<typeof GROUPS>['groups'];

/** The groups that an account may use. Administrators grant and withdraw them. */
export function AccountGroups({ accountId }: { accountId: string }) {
  const { t } = useTranslation('support');
  const isAdmin = mayAny(useSession(), ['admin']);
  const groups = useRead(GROUPS, { path: { accountId } });
  return (
    <Section title={t('groups.title')}>
      <Loaded query={groups} lines={3}>
        {(found) => (
          <Card withBorder>
            <Stack gap="xs">
              {found.groups.map((each) => (
                <OneGroup key={each.group} accountId={accountId} of={each} isAdmin={isAdmin} />
              ))}
              {isAdmin && <GrantForm accountId={accountId} groups={found.groups} />}
            </Stack>
          </Card>
        )}
      </Loaded>
    </Section>
  );
}

function OneGroup(props: { accountId: string; of: Groups[number]; isAdmin: boolean }) {
  const { accountId, of, isAdmin } = props;
  const { t } = useTranslation('support');
  const { group, grant } = of;
  return (
    <Group justify="space-between">
      <TextLine>
        <span className="model-name">{group}</span> · {t(grant ? 'groups.grantedBy' : 'groups.open')}{' '}
        {grant && <Who actor={grant.by} />}
      </TextLine>
      {isAdmin && grant && <Withdraw accountId={accountId} group={group} />}
    </Group>
  );
}

function Withdraw({ accountId, group }: { accountId: string; group: string }) {
  const { t } = useTranslation('support');
  const withdraw = async () => {
    const params = { path: { accountId, group } };
    await api.DELETE('/api/admin/accounts/{accountId}/groups/{group}', { params });
    await reread();
    notify(t('groups.withdrawn', { group }));
  };
  return <ConfirmAction texts={t('groups.withdraw', { group })} act={withdraw} size="xs" />;
}

function GrantForm({ accountId, groups }: { accountId: string; groups: Groups }) {
  const { t } = useTranslation('support');
  const all = useRead('/api/admin/groups', { query: { limit: MOST_GROUPS } });
  const others = (all.data?.items ?? []).filter(({ name }) => !groups.some(({ group }) => group === name));
  const form = useForm({ initialValues: { group: '' } });
  const { onSubmit, isSending, failure } = useGrant(accountId, form);
  if (others.length === 0) return null;
  return (
    <form onSubmit={onSubmit} noValidate className="stack">
      <Group align="flex-end" gap="sm">
        <Select
          label={t('groups.another')}
          description={t('groups.anotherHint')}
          data={others.map(({ name }) => name)}
          {...form.getInputProps('group')}
        />
        <Button type="submit" variant="default" loading={isSending} disabled={!form.values.group}>
          {t('groups.grant')}
        </Button>
      </Group>
      <FormFault error={failure} />
    </form>
  );
}

function useGrant(accountId: string, form: UseFormReturnType<{ group: string }>) {
  const { t } = useTranslation('support');
  return useSend({
    form,
    send: ({ group }) => {
      const params = { path: { accountId, group } };
      return api.PUT('/api/admin/accounts/{accountId}/groups/{group}', { params, body: {} });
    },
    done: async (_answer, { group }) => {
      await reread();
      form.reset();
      notify(t('groups.granted', { group }));
    },
  });
}

async function reread(): Promise<void> {
  await refresh(GROUPS, '/api/admin/audit-log');
}
