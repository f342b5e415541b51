// Keys that were made for a service name it, so that its workflow can be made again after a deletion: the workflow's id is a hash
// of the name.

export const KEYS = `
-- the service whose workflow is workflow_id; null: none
ALTER TABLE api_keys ADD COLUMN service TEXT;
`;
