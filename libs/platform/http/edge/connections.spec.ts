import { EventEmitter } from 'node:events';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { goneSignal } from './connections.js';

describe('goneSignal', () => {
  const signalFor = (response: EventEmitter & { destroyed: boolean }, readableEnded = false) => {
    const socket = Object.assign(new EventEmitter(), { readableEnded });
    const request = { raw: { socket } } as unknown as FastifyRequest;
    return goneSignal(request, { raw: response } as unknown as FastifyReply);
  };
  const response = (destroyed: boolean) => Object.assign(new EventEmitter(), { destroyed });

  it('aborts when the connection is lost', () => {
    const open = response(false);
    const signal = signalFor(open);
    expect(signal.aborted).toBe(false);
    open.emit('close');
    expect(signal.aborted).toBe(true);
  });

  it('is aborted when the connection was lost before', () => {
    expect(signalFor(response(true)).aborted).toBe(true);
  });

  it('is aborted when the client had closed its side before', () => {
    expect(signalFor(response(false), true).aborted).toBe(true);
  });
});
