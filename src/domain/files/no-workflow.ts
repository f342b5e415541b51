// Files that export no workflow: what is told of them, by the watched folder and by `errand deploy`.

/** Of a file that was deployed before. */
export const LOST_EXPORT = 'it no longer has a default export';

/** Of a file that was never deployed, and looks as if it was meant to be. */
export const NOT_EXPORTED =
  'it uses defineWorkflow, and has no default export: a workflow is deployed with "export default"; when the file is for others to import, let its name begin with _';
