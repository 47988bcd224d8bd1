-- How often the finished file of a task could not be copied: its budget must survive a restart of the worker.
ALTER TABLE tasks ADD COLUMN copy_attempts integer NOT NULL DEFAULT 0;
GRANT UPDATE (copy_attempts) ON tasks TO tollgate_worker;
