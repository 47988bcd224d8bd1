import { Checkbox, Group, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';
import { notify } from '../../shell/notices.js';
import { useSession } from '../../shell/session.js';
import { ConfirmAction } from '../../ui/forms/confirm-action.js';
import { SidePanel } from '../../ui/forms/dialog.js';
import { SendForm, useSend } from '../../ui/forms/form.js';
import { TextLink } from '../../ui/links.js';
import { staffRoles } from '../../api/enumerations.js';

/** What a person may do, and whether they may sign in. Nobody changes their own access. */
export function OpenPerson({ person }: { person: Shape<'Person'> | undefined }) {
  const { t } = useTranslation('admin');
  const session = useSession();
  return (
    <SidePanel
      param="person"
      opened={person !== undefined}
      title={<span className="model-name">{person?.email}</span>}
    >
      {person && (
        <Stack>
          <TextLink to="/support/accounts/$accountId" params={{ accountId: person.accountId }} size="sm">
            {t('people.account')}
          </TextLink>
          {person.userId === session?.userId ? (
            <Text>{t('people.own')}</Text>
          ) : (
            <>
              <RolesForm key={person.roles.join()} person={person} />
              <Access person={person} />
            </>
          )}
        </Stack>
      )}
    </SidePanel>
  );
}

async function reread(): Promise<void> {
  await refresh(
    '/api/admin/people',
    '/api/admin/audit-log',
    '/api/support/accounts/{accountId}',
    '/api/approvals',
  );
}

function RolesForm({ person }: { person: Shape<'Person'> }) {
  const { t } = useTranslation('admin');
  const form = useForm<{ roles: string[] }>({
    initialValues: { roles: staffRoles.filter((role) => person.roles.includes(role)) },
  });
  const sending = useSend({
    form,
    send: ({ roles }) =>
      api.PUT('/api/admin/people/{userId}/roles', {
        params: { path: { userId: person.userId } },
        body: { roles: staffRoles.filter((role) => roles.includes(role)) },
      }),
    done: async (answer) => {
      await reread();
      const isAsked = answer.data?.approvalId != null;
      notify(isAsked ? t('people.rolesWait') : t('people.rolesChanged', { email: person.email }));
    },
  });
  return (
    <SendForm sending={sending} submit={t('people.saveRoles')}>
      <Checkbox.Group
        label={t('people.roles')}
        description={t('people.rolesHint')}
        {...form.getInputProps('roles')}
      >
        <Stack gap="xs" mt="xs">
          {staffRoles.map((role) => (
            <Checkbox
              key={role}
              value={role}
              label={t(`roles.${role}`)}
              description={t(`roles.hints.${role}`)}
            />
          ))}
        </Stack>
      </Checkbox.Group>
    </SendForm>
  );
}

function Access({ person }: { person: Shape<'Person'> }) {
  const { t } = useTranslation('admin');
  const params = { path: { userId: person.userId } };
  const way = person.disabled ? 'enable' : 'disable';
  const turn = async () => {
    await api.PUT('/api/admin/people/{userId}/disabled', { params, body: { disabled: !person.disabled } });
    await reread();
  };
  const removeTotp = async () => {
    await api.DELETE('/api/admin/people/{userId}/totp', { params });
    await reread();
  };
  return (
    <Group>
      <ConfirmAction
        label={t(`people.${way}`)}
        title={t(`people.${way}Title`, { email: person.email })}
        isDangerous={!person.disabled}
        act={turn}
        hint={t(`people.${way}Hint`)}
      />
      {person.totpEnabled && (
        <ConfirmAction
          label={t('people.removeTotp')}
          title={t('people.removeTotpTitle', { email: person.email })}
          act={removeTotp}
          hint={t('people.removeTotpHint')}
        />
      )}
    </Group>
  );
}
