import { expect, it } from 'vitest';
import { accessOf, isInGroup, mayServe } from './access.js';
import { PUBLIC_RELAY, VENDORA, VENDORA_MAIN } from './group.js';

it("keeps videos and the vendor's own images for Vendora-Main, and nothing else", () => {
  const served = (family: string, ...owners: string[]) =>
    [VENDORA_MAIN, PUBLIC_RELAY].map((group) => mayServe(group, { family, owners }));
  expect(served('video', 'other')).toEqual([true, false]);
  expect(served('image', VENDORA)).toEqual([true, false]);
  expect(served('image', 'other')).toEqual([true, true]);
  expect(served('chat', VENDORA)).toEqual([true, true]);
  // An alias has its model's type, and no spelling hides an owner.
  expect(served('image', 'other', ' Vendora ')).toEqual([true, false]);
});

it('leaves out what a group may not serve, even if it is stored', () => {
  const models = new Map([
    ['film', { family: 'video', owners: ['other'] }],
    ['sketch', { family: 'image', owners: ['other'] }],
  ]);
  const pairs = [VENDORA_MAIN, PUBLIC_RELAY].flatMap((group) =>
    ['film', 'sketch', 'gone'].map((model) => ({ group, model })),
  );
  const access = accessOf(pairs, (id) => models.get(id));
  const seen = (group: string) => ['film', 'sketch', 'gone'].filter((id) => isInGroup({ access }, group, id));
  expect(seen(VENDORA_MAIN)).toEqual(['film', 'sketch']);
  expect(seen(PUBLIC_RELAY)).toEqual(['sketch']);
  expect(seen('Nobody')).toEqual([]);
});
