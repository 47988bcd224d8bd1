import { Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, refresh, type Shape } from '../../api/client.js';
import { useSession } from '../../shell/session.js';
import { Anew, anewAfterConflict } from '../../ui/forms/anew.js';
import { ConfirmAction } from '../../ui/forms/confirm-action.js';
import { ticksField } from '../../ui/forms/choice-fields.js';
import { Form } from '../../ui/forms/declared.js';
import { OpenRow } from '../../ui/forms/dialog.js';
import { TextLink } from '../../ui/links.js';
import { staffRoles } from '../../api/enumerations.js';

/** Nobody changes their own access. */
export function OpenPerson({ person }: { person: Shape<'Person'> | undefined }) {
  const { t } = useTranslation('admin');
  const session = useSession();
  return (
    <OpenRow param="person" row={person} title={({ email }) => email}>
      {(open) => (
        <Stack>
          <TextLink to="/support/accounts/$accountId" params={{ accountId: open.accountId }} size="sm">
            {t('people.account')}
          </TextLink>
          {open.userId === session?.userId ? (
            <Text>{t('people.own')}</Text>
          ) : (
            <>
              <Anew key={open.userId}>{(begin) => <Roles person={open} begin={begin} />}</Anew>
              <Access person={open} />
            </>
          )}
        </Stack>
      )}
    </OpenRow>
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

function Roles({ person, begin }: { person: Shape<'Person'>; begin: () => void }) {
  const { t } = useTranslation('admin');
  // The form keeps the roles it opened with, even if the person is read again.
  const [was] = useState(() => ({ roles: person.roles }));
  return (
    <Form
      fields={{
        roles: ticksField(t('people.roles'), {
          initial: staffRoles.filter((role) => was.roles.includes(role)),
          hint: t('people.rolesHint'),
          of: staffRoles,
          name: (role) => t(`roles.${role}`),
          about: (role) => t(`roles.hints.${role}`),
        }),
      }}
      submit={t('people.saveRoles')}
      send={(values) => {
        const params = { path: { userId: person.userId } };
        return api.PUT('/api/admin/people/{userId}/roles', { params, body: { ...values, was } });
      }}
      refused={anewAfterConflict(reread, begin)}
      reread={reread}
      done={begin}
      success={({ data }) =>
        data?.approvalId != null ? t('people.rolesWait') : t('people.rolesChanged', { email: person.email })
      }
    />
  );
}

function Access({ person }: { person: Shape<'Person'> }) {
  const { t } = useTranslation('admin');
  const params = { path: { userId: person.userId } };
  const way = person.disabled ? 'enable' : 'disable';
  const body = { disabled: !person.disabled };
  return (
    <Group>
      <ConfirmAction
        texts={t(`people.${way}`, { email: person.email })}
        isDangerous={!person.disabled}
        act={() => api.PUT('/api/admin/people/{userId}/disabled', { params, body })}
        reread={reread}
      />
      {person.totpEnabled && <RemoveTotp person={person} />}
    </Group>
  );
}

function RemoveTotp({ person: { userId, email } }: { person: Shape<'Person'> }) {
  const { t } = useTranslation('admin');
  return (
    <ConfirmAction
      texts={t('people.removeTotp', { email })}
      act={() => api.DELETE('/api/admin/people/{userId}/totp', { params: { path: { userId } } })}
      reread={reread}
    />
  );
}
