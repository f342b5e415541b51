// Names are looked up by threads of libuv's pool, which gives half of its threads to such slow work: with the default of
// four, two names whose servers do not answer would hold up every new connection. Half of these are as many as there are
// places for lookups (webhook/lookups.ts). Must be set before the pool is first used.

process.env.UV_THREADPOOL_SIZE ??= '52';
