import { IconPlus } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useList, useRead } from '../../api/client.js';
import { OwnOnly } from '../../shell/own-only.js';
import { DataList } from '../../ui/lists/data-list.js';
import { ButtonLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { useTokenColumns } from './token-columns.js';
import { ChangeToken, NewToken } from './token-forms.js';
import { type MadeToken, TokenOnce } from './token-once.js';
import { FormPanel } from '../../ui/forms/dialog.js';
import { useOwnState } from '../../shell/session.js';

const route = getRouteApi('/user/tokens');
const PAGE = 50;

export default function TokensPage() {
  const { t } = useTranslation('tokens');
  const tokens = useList('/api/keys', { query: { limit: PAGE } });
  const create = (
    <OwnOnly>
      <ButtonLink to="/tokens" search={{ new: 'yes' }} icon={IconPlus}>
        {t('create')}
      </ButtonLink>
    </OwnOnly>
  );
  return (
    <PageFrame title={t('title')} about={t('about')} actions={create}>
      <DataList
        query={tokens}
        columns={useTokenColumns()}
        rowKey="keyId"
        empty={{ ...t('empty'), action: create }}
        name="tokens"
      />
      <OpenForms />
    </PageFrame>
  );
}

function OpenForms() {
  const { t } = useTranslation('tokens');
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [made, setMade] = useOwnState<MadeToken>();
  const leave = (replace: boolean) =>
    navigate({ search: search.cursor ? { cursor: search.cursor } : {}, replace });
  const close = () => void leave(false);
  return (
    <>
      <FormPanel close={close} opened={search.new === 'yes'} title={t('create')}>
        {/* Back would open the form again, and another key would replace the one that is shown once. */}
        <NewToken done={(token) => void leave(true).then(() => setMade(token))} />
      </FormPanel>
      <FormPanel close={close} opened={search.key !== undefined} title={t('change')}>
        {search.key !== undefined && <OpenToken key={search.key} keyId={search.key} done={close} />}
      </FormPanel>
      <TokenOnce token={made} done={() => setMade(null)} />
    </>
  );
}

function OpenToken({ keyId, done }: { keyId: string; done: () => void }) {
  return (
    <Loaded query={useRead('/api/keys/{keyId}', { path: { keyId } })} lines={8}>
      {(found) => <ChangeToken token={found} done={done} />}
    </Loaded>
  );
}
