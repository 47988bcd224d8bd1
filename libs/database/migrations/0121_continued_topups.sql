-- The first top-up of money that came back and was credited again. It had its reward there, and counts as one top-up of an invitee.
ALTER TABLE topups ADD COLUMN continues text REFERENCES topups;
