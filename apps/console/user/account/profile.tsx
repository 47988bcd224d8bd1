import { Button, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../api/client.js';
import { type GetAnswer, refresh } from '../../api/queries.js';
import { notify } from '../../shell/notices.js';
import { useSession } from '../../shell/session.js';
import { CopyLine } from '../../ui/copy.js';
import { TextField } from '../../ui/forms/fields.js';
import { FormFault, useSend } from '../../ui/forms/form.js';
import { Loaded } from '../../ui/states.js';
import { Hint } from '../../ui/texts.js';
import { When } from '../../ui/when.js';
import { ChangeEmail } from './email-change.js';

const MOST_NAME_CHARS = 100;

/** Name and address. */
export function Profile() {
  const account = $api.useQuery('get', '/api/account');
  return (
    <Loaded query={account} lines={4}>
      {(found) => <ProfileForm account={found} />}
    </Loaded>
  );
}

function ProfileForm({ account }: { account: GetAnswer<'/api/account'> }) {
  const { t } = useTranslation('account');
  const session = useSession();
  const form = useForm({
    initialValues: { name: account.name },
    validate: { name: (value) => (value.trim() ? null : t('profile.nameMissing')) },
  });
  const { onSubmit, isSending, failure } = useSend({
    form,
    send: (body) => api.PATCH('/api/account', { body }),
    done: async () => {
      notify(t('profile.saved'));
      await refresh('/api/account');
    },
  });
  return (
    <Stack>
      <TextInput
        label={t('profile.email')}
        description={t('profile.emailHint')}
        value={session?.email ?? ''}
        readOnly
        maw="26rem"
      />
      <ChangeEmail />
      <form onSubmit={onSubmit} noValidate className="stack">
        <TextField
          form={form}
          name="name"
          label={t('profile.name')}
          maxLength={MOST_NAME_CHARS}
          required
          maw="26rem"
        />
        <FormFault error={failure} />
        <Button type="submit" loading={isSending} w="fit-content">
          {t('profile.save')}
        </Button>
        <div>
          <Hint>{t('profile.accountId')}</Hint>
          <CopyLine value={account.accountId} label={t('profile.accountId')} />
          <Hint>
            {t('profile.since')} <When at={account.createdAt} />
          </Hint>
        </div>
      </form>
    </Stack>
  );
}
