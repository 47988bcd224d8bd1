-- Which findings two people agreed to leave, as `state subject`: others are not waived, however many these are. Null: there were
-- more than are read, so that only their number is known.
ALTER TABLE period_waivers ADD COLUMN findings text[];
