import type { FastifyInstance } from 'fastify';
import { pathOf } from './edge/request-form.js';

interface Route {
  /** Whether its path has no parameters. */
  readonly isExact: boolean;
  readonly pattern: RegExp;
  readonly method: string;
}

/** The route that answers what no other one does. */
export const FALLBACK = '*';

/** Whether a route is described to clients. Wildcards and `/` are for browsers, or answer what no other route does. */
export function isPartOfApi(path: string): boolean {
  return path !== '/' && !path.includes('*');
}

/** The methods of each path, collected from the routes as they are registered. */
export class RouteTable {
  private readonly routes: Route[] = [];
  /** The methods of routes without parameters, by their path. */
  private readonly exact = new Map<string, Set<string>>();

  /** Must be called before any route is registered. */
  collectFrom(fastify: FastifyInstance): void {
    fastify.addHook('onRoute', ({ url, method }) => {
      if (url !== `/${FALLBACK}`) for (const name of [method].flat()) this.add(url, name);
    });
  }

  /**
   * Whether a path without parameters has routes, but none with this method. The router would try routes with parameters
   * then, and take `batch` in `/messages/batch` for an id.
   * @param target a path with an optional query
   */
  lacks(target: string, method: string): boolean {
    const methods = this.exact.get(decodeURI(pathOf(target)));
    return methods !== undefined && !methods.has(method);
  }

  /**
   * The methods of a path, in the order of their registration; none for a path that doesn't exist.
   * @param target the path as the router has accepted it, percent-encoded, with an optional query
   */
  methodsFor(target: string): string[] {
    const path = decodeURI(pathOf(target));
    const routes = this.routes.filter(({ pattern }) => pattern.test(path));
    // `/messages/batch` is not a message.
    const exact = routes.filter(({ isExact }) => isExact);
    return methodsOf(exact.length > 0 ? exact : routes);
  }

  /** The methods of all paths. */
  allMethods(): string[] {
    return methodsOf(this.routes);
  }

  private add(url: string, method: string): void {
    const pattern = url
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:\w+/g, '[^/]+')
      .replace('*', '.+');
    const isExact = !/[:*]/.test(url);
    this.routes.push({ isExact, pattern: new RegExp(`^${pattern}$`), method });
    if (!isExact) return;
    const methods = this.exact.get(url) ?? new Set();
    this.exact.set(url, methods.add(method));
  }
}

function methodsOf(routes: readonly Route[]): string[] {
  return [...new Set(routes.map(({ method }) => method))];
}
