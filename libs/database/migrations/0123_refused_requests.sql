-- Refused requests are no part of the books, and go after a time. No program may delete charges: it may call this, which takes
-- nothing else. It walks ids, which begin with their time, as retention does, and so needs no index of its own. A refusal of
-- the last day stays, because its request may be delivered again and must be refused again.
CREATE FUNCTION remove_refused(after_id text, before_id text, most integer, OUT seen integer, OUT removed integer, OUT last text)
LANGUAGE sql SECURITY DEFINER SET search_path = public AS $$
  WITH walked AS (
    SELECT id, state FROM charges WHERE id > after_id AND id < before_id AND created_at < now() - interval '1 day'
    ORDER BY id LIMIT most),
  removed AS (
    DELETE FROM charges c USING walked w WHERE c.id = w.id AND w.state = 'refused'
      AND NOT EXISTS (SELECT FROM tasks t WHERE t.charge_id = c.id AND t.state <> 'refused')
      AND NOT EXISTS (SELECT FROM late_deliveries l WHERE l.charge_id = c.id)
    RETURNING c.id),
  tasks_of_them AS (DELETE FROM tasks t USING removed r WHERE t.charge_id = r.id)
  SELECT (SELECT count(*)::integer FROM walked), (SELECT count(*)::integer FROM removed), (SELECT max(id) FROM walked)
$$;
REVOKE ALL ON FUNCTION remove_refused FROM PUBLIC;
GRANT EXECUTE ON FUNCTION remove_refused TO tollgate_billing;
