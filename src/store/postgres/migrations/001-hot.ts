// Tables whose rows change with every claim: most updates stay on their page (HOT), and what is dead is soon swept.

export const HOT = `WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0)`;
