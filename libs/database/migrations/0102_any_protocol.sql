-- The program that writes channels says which protocols there are: the table of libs/upstream, of which this was a copy to widen
-- with each vendor. Programs offer nothing through a channel whose protocol they do not know.
ALTER TABLE channels DROP CONSTRAINT channels_protocol_check;
