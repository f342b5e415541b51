// Names are looked up by threads of libuv's pool, and it gives half of them to such slow work: with its four, two names
// whose servers do not answer would hold up every new connection. Read when the pool is first used, so this comes first.

process.env.UV_THREADPOOL_SIZE ??= '32';
