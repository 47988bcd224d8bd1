import { TextLink } from '../../ui/links.js';

export function ChannelLink({ id }: { id: string }) {
  return (
    <TextLink to="/admin/channels/$channelId" params={{ channelId: id }} size="sm" className="model-name">
      {id}
    </TextLink>
  );
}
