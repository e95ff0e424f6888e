import { isRedisUnavailable, makesUseless, whyUnavailable } from './errors.js';

const IN_SCRIPT = ' script: 2248ea7f, on @user_script:1.';

/** As Redis 7 sends them, as 6.2 wraps them in the error of a script, and what both, 7.2 and Valkey say of rights. */
const REPLACED = [
  "READONLY You can't write against a read only replica.",
  `READONLY You can't write against a read only replica.${IN_SCRIPT}`,
  "ERR Error running script (call to f_22): @user_script:1: -READONLY You can't write against a read only replica.",
  "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
  'NOREPLICAS Not enough good replicas to write.',
  'NOAUTH Authentication required.',
];

const KEPT = [
  'LOADING Redis is loading the dataset in memory',
  'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.',
  'MISCONF Redis is configured to save RDB snapshots, but it is currently not able to persist on disk.',
  "OOM command not allowed when used memory > 'maxmemory'.",
  'CLUSTERDOWN The cluster is down',
  "NOPERM this user has no permissions to run the 'set' command",
  `ERR The user executing the script can't run this command or subcommand${IN_SCRIPT}`,
  "ERR The user executing the script can't access at least one of the keys mentioned in the command arguments",
  `ERR ACL failure in script: User app has no permissions to run the 'hset' command${IN_SCRIPT}`,
];

describe('After a response of Redis', () => {
  it.each(REPLACED)('the connection is replaced, and the command may be repeated: %s', (message) => {
    expect([isRedisUnavailable(new Error(message)), makesUseless(new Error(message))]).toEqual([true, true]);
  });

  it.each(KEPT)('the connection is kept, and the command may be repeated: %s', (message) => {
    expect([isRedisUnavailable(new Error(message)), makesUseless(new Error(message))]).toEqual([true, false]);
  });

  it.each(['WRONGTYPE Operation against a key holding the wrong kind of value', 'ERR syntax error'])(
    'the command has failed: %s',
    (message) => {
      expect([isRedisUnavailable(new Error(message)), makesUseless(new Error(message))]).toEqual([false, false]);
    },
  );

  it.each([
    ["OOM command not allowed when used memory > 'maxmemory'.", 'Redis has no memory left.'],
    [
      "ERR Error running script (call to f_22): @user_script:1: -OOM command not allowed when used memory > 'maxmemory'.",
      'Redis has no memory left.',
    ],
    ["NOPERM this user has no permissions to run the 'set' command", 'Redis refuses commands.'],
    ["READONLY You can't write against a read only replica.", 'Redis refuses commands.'],
    ['Connection is closed.', 'The service cannot reach Redis.'],
    ['connect ECONNREFUSED', 'The service cannot reach Redis.'],
  ])('the reason is said: %s', (message, why) => {
    expect(whyUnavailable(new Error(message))).toBe(why);
  });
});
