-- Videos, and image models of `vendora`, are for the group Vendora-Main alone (libs/groups/group.ts). Until now that was
-- only so in the first catalog, which named `vendora` as the owner of other vendors' models too.

UPDATE models SET owned_by = 'vendorb'
WHERE id IN ('imgmodel-4', 'imgmodel-lite', 'vidmodel-3') AND owned_by = 'vendora';

DELETE FROM group_models g USING models m LEFT JOIN models target ON target.id = m.alias_of
WHERE m.id = g.model_id AND g.group_name <> 'Vendora-Main'
  AND (m.family = 'video'
    OR (m.family = 'image' AND 'vendora' IN (lower(trim(m.owned_by)), lower(trim(target.owned_by)))));
