-- What somebody accepted alone, added up over a day: in minor units of the house's currency; null for what is in another one,
-- which needs two people, and for what was accepted before it was kept.
ALTER TABLE provider_line_acceptances ADD COLUMN alone_minor bigint CHECK (alone_minor >= 0);
CREATE INDEX provider_line_acceptances_alone ON provider_line_acceptances (requested_by, recorded_at) WHERE approved_by IS NULL;
