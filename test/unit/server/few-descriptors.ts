// Becomes a program of Node.js with few file descriptors. Arguments: their number, the program and its arguments.

const [descriptors, ...program] = process.argv.slice(2);
const shell = ['sh', '-c', `ulimit -n ${Number(descriptors)}; exec "$0" "$@"`, process.execPath, ...program];
process.execve?.('/bin/sh', shell, process.env);
