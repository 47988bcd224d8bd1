-- What decides among the channels of a model that have the same priority: their weight, what they cost, or how fast they are.

ALTER TABLE models ADD COLUMN routing text NOT NULL DEFAULT 'priority' CHECK (routing IN ('priority', 'cost', 'latency'));

-- Gateways route by what upstreams take now; who set it, and why, is not theirs to read.
GRANT SELECT (channel_id, model_id, unit_cost, input_cost, output_cost, media_costs, effective_from, until)
  ON upstream_cost_times TO tollgate_gateway, tollgate_worker;
