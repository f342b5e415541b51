// A step of a workflow that hears another workflow's $errors by subscription, and keeps each of them in an archive: the
// listing shows the newest 100, this keeps all.
//
// A run may happen twice when the server dies under it, so the error is stored under its own id: twice is like once.

export default {
  async run({ steps, $ }) {
    const { error, original_context } = steps.trigger.event;
    const { record_id } = steps.trigger.context;
    const response = await fetch(`${process.env.ARCHIVE_URL}/${record_id}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      // The exact text that arrived. JSON.stringify(steps.trigger.event) would round numbers beyond 2^53.
      body: steps.trigger.raw,
    });
    if (!response.ok) throw new Error(`the archive answered ${response.status}`);
    $.export('$summary', `kept ${error.code} of ${original_context.workflow_name}`);
    return { kept: record_id };
  },
};
