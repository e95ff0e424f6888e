import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { TrustedProxies } from '../access/client-address.js';
import { ConnectionRoom } from './connection-room.js';

const MAX = 40;

describe('ConnectionRoom', () => {
  let room: ConnectionRoom;
  let closed: string[];
  let served: Set<unknown>;
  let now: number;
  beforeEach(() => {
    [closed, served, now] = [[], new Set(), 0];
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    room = new ConnectionRoom(MAX, new TrustedProxies(['10.0.0.1']), (socket) => served.has(socket));
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  /** @returns the connections that it opened */
  const open = (remoteAddress: string, count = 1, account?: string, isServed = false) =>
    Array.from({ length: count }, (_, index) => {
      const socket = Object.assign(new EventEmitter(), { remoteAddress }) as unknown as Socket;
      socket.destroy = () => {
        closed.push(`${account ?? remoteAddress} ${index}`);
        socket.emit('close');
        return socket;
      };
      if (isServed) served.add(socket);
      room.add(socket);
      if (account !== undefined) room.recognize(socket, account);
      return socket;
    });

  it('closes nothing while there is room, also after others have closed', () => {
    const sockets = open('192.0.2.1', MAX);
    sockets[3]?.emit('close');
    open('192.0.2.2');
    expect(closed).toEqual([]);
  });

  it.each([
    ['one that sent nothing', () => open('192.0.2.1', MAX), '192.0.2.1 0'],
    [
      'one without a key, before those of an account',
      () => [open('192.0.2.9', 20, 'acct_1'), open('192.0.2.1', 20)],
      '192.0.2.1 0',
    ],
    ['of the address that has most', () => [open('192.0.2.1', 15), open('192.0.2.2', 25)], '192.0.2.2 0'],
    [
      'of the /64 that has most',
      () => [open('192.0.2.1', 19), ...Array.from({ length: 21 }, (_, index) => open(`2001:db8::${index}`))],
      '2001:db8::0 0',
    ],
    ['one that is not served', () => [open('192.0.2.1', 20, undefined, true), open('192.0.2.1', 20)], '192.0.2.1 0'],
    ['one that is served, without a key', () => open('192.0.2.1', MAX, undefined, true), '192.0.2.1 0'],
    [
      'an idle one of the account that has most',
      () => [open('192.0.2.1', 15, 'acct_1'), open('192.0.2.1', 25, 'acct_2')],
      'acct_2 0',
    ],
    [
      'an idle one of an account with many addresses',
      () => [
        open('192.0.2.1', 15, 'acct_1'),
        ...Array.from({ length: 25 }, (_, index) => open(`192.0.2.${index + 9}`, 1, 'acct_2')),
      ],
      'acct_2 0',
    ],
    [
      'one of the account that has most, all served',
      () => [open('192.0.2.1', 15, 'acct_1', true), open('192.0.2.1', 25, 'acct_2', true)],
      'acct_2 0',
    ],
  ])('closes %s for a new one', (_name, fill, first) => {
    fill();
    now += 2_000;
    open('198.51.100.1');
    expect(closed).toEqual([first]);
  });

  it('closes the new connection when all others wait for responses and no account exceeds its share', () => {
    for (let account = 0; account < 8; account++) open('192.0.2.1', MAX / 8, `acct_${account}`, true);
    open('198.51.100.1');
    expect(closed).toEqual(['198.51.100.1 0']);
  });

  it('gives a few new connections time to present a key', () => {
    open('192.0.2.1', MAX - 5, 'acct_1');
    open('198.51.100.1', 5);
    open('198.51.100.1');
    expect(closed).toEqual(['acct_1 0']);
    now += 1_001;
    open('198.51.100.1');
    expect(closed).toEqual(['acct_1 0', '198.51.100.1 0']);
  });

  it('does not count a trusted proxy as one client', () => {
    open('10.0.0.1', MAX - 12);
    open('192.0.2.1', 12);
    now += 2_000;
    for (let count = 0; count < 5; count++) open('10.0.0.1', 1, 'acct_1');
    expect(closed).toEqual([0, 1, 2, 3, 4].map((index) => `192.0.2.1 ${index}`).slice(0, 5));
  });
});
