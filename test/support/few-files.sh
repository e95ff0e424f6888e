# The API, with a limit of open files that is lower than the usual number of its connections.
ulimit -n 128
exec node dist/apps/api/main.js
