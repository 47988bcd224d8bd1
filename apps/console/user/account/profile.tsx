import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { api, type GetAnswer, refresh, useRead } from '../../api/client.js';
import { useSession } from '../../shell/session.js';
import { CopyLine } from '../../ui/copy.js';
import { Form } from '../../ui/forms/declared.js';
import { textField } from '../../ui/forms/text-fields.js';
import { Loaded } from '../../ui/states.js';
import { Hint } from '../../ui/texts.js';
import { When } from '../../ui/time/when.js';
import { useState } from 'react';
import { Dialog } from '../../ui/forms/dialog.js';
import { EMAIL } from '../../visitor/entrance.js';
import { useCurrentPassword } from './current-password.js';
import { Section } from '../../ui/page.js';

const MOST_NAME_CHARS = 100;

export function Profile() {
  const { t } = useTranslation('account');
  return (
    <Section title={t('profile.title')}>
      <Loaded query={useRead('/api/account')} lines={4}>
        {(found) => <Details account={found} />}
      </Loaded>
    </Section>
  );
}

interface AccountProps {
  account: GetAnswer<'/api/account'>;
}

function Details({ account }: AccountProps) {
  const { t } = useTranslation('account');
  const session = useSession();
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
      <NameForm account={account} />
      <div>
        <Hint>{t('profile.accountId')}</Hint>
        <CopyLine value={account.accountId} label={t('profile.accountId')} />
        <Hint>
          {t('profile.since')} <When at={account.createdAt} />
        </Hint>
      </div>
    </Stack>
  );
}

function NameForm({ account }: AccountProps) {
  const { t } = useTranslation('account');
  const name = textField(t('profile.name'), {
    initial: account.name,
    missing: t('profile.nameMissing'),
    maxLength: MOST_NAME_CHARS,
    maw: '26rem',
  });
  return (
    <Form
      fields={{ name }}
      submit={t('profile.save')}
      send={(body) => api.PATCH('/api/account', { body })}
      reread={() => refresh('/api/account')}
      success={() => t('profile.saved')}
    />
  );
}

/** Nothing changes until the link in the mail is opened. */
function ChangeEmail() {
  const { t } = useTranslation('account');
  const [isOpen, setOpen] = useState(false);
  const [sentTo, setSentTo] = useState<string | null>(null);
  const open = () => {
    setSentTo(null);
    setOpen(true);
  };
  return (
    <>
      <Button variant="default" w="fit-content" onClick={open}>
        {t('email.change')}
      </Button>
      <Dialog opened={isOpen} onClose={() => setOpen(false)} title={t('email.title')}>
        {sentTo === null ? (
          <AskForm sent={setSentTo} />
        ) : (
          <Text role="status">{t('email.sent', { email: sentTo })}</Text>
        )}
      </Dialog>
    </>
  );
}

function AskForm({ sent }: { sent: (email: string) => void }) {
  const { t } = useTranslation('account');
  return (
    <Form
      fields={{
        email: textField(t('email.new'), {
          rule: [EMAIL, t('email.invalid')],
          type: 'email',
          autoComplete: 'email',
          isFirst: true,
        }),
        password: useCurrentPassword(),
      }}
      submit={t('email.submit')}
      isWide
      // Browsers fill in both fields.
      isShort
      send={(body) => api.POST('/api/email-changes', { body })}
      done={(_answer, { email }) => sent(email)}
    >
      <Text size="sm">{t('email.about')}</Text>
    </Form>
  );
}
